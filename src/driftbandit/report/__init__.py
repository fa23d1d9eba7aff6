"""Tables and figures → pages and files."""
