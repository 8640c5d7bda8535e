package atomicfile

import "os"

// OpenPlain opens the file name for reading, and faster than the root does. A
// pipe would wait for its writer: it is for what was seen to be a file.
func (d *Dir) OpenPlain(name string) (*os.File, error) { return d.open(name, os.O_RDONLY) }
