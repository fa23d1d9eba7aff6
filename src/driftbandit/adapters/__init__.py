"""Our policies and worlds inside other packages: one file per package, imported only on request."""
