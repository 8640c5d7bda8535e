package atomicfile

func (d *Dir) syncNames() error { return nil }
