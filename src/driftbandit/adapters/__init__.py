"""Our policies and worlds inside other people's harnesses: a file for each, loaded only when it is asked for."""
