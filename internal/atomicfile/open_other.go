//go:build !unix

package atomicfile

import "os"

func (d *Dir) open(name string, flag int) (*os.File, error) { return d.root.OpenFile(name, flag, 0) }
