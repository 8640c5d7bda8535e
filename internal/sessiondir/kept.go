package sessiondir

import "github.com/amplifier-go/sessionstorage/internal/atomicfile"

// Kept opens the directory name of the bookkeeping for whoever keeps state
// there, and makes it when it is not there.
func (b *Base) Kept(name string) (*atomicfile.Dir, error) {
	path, err := b.keep(name)
	if err != nil {
		return nil, err
	}
	top, err := b.open()
	if err != nil {
		return nil, err
	}
	root, err := top.Root().OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return atomicfile.New(root, b.seam), nil
}
