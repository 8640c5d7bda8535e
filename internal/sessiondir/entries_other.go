//go:build !linux

package sessiondir

import (
	"io/fs"
	"os"
)

// readNames returns the names in the directory f that keep wants, in the order
// of the file system.
func readNames(f *os.File, keep func(name string, kind fs.FileMode) bool) (found []named, err error) {
	all, err := f.ReadDir(-1)
	for _, e := range all {
		if keep(e.Name(), e.Type()) {
			found = append(found, named{e.Name(), e.Type()})
		}
	}
	return found, err
}
