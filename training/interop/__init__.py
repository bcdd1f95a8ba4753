"""Other projects' tools: SimulEval, simulstream."""
