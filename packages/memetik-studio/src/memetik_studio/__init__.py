"""The studio: a local page with the body in 3D, targets to drag and the solver running live."""
