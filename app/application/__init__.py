"""The controllers that connect windows, engine and files, and the program they make up."""
