"""SimulEval and simulstream."""
