"""The commands, one module a group; each parses, calls the library and prints."""
