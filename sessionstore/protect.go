package sessionstore

import (
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
)

// protect prepares the replacement of main: a sound main becomes the backup;
// damaged bytes are put aside; a backup that was read in the place of main
// stays. A backup that main, being empty, is about to replace without having
// been part of it, is put aside.
func (w *writing) protect(main, backup *file, from source) (keep atomicfile.Keep, err error) {
	var asides []string
	switch {
	case main.sound() && from != fromBackup:
		if main.stamp.Size == 0 && backup.found && (backup.bad != nil || len(backup.data) > 0) {
			asides = append(asides, backup.name)
		}
	case main.bad != nil:
		asides = append(asides, main.name)
		if backup.bad != nil {
			asides = append(asides, backup.name)
		}
	case backup.bad != nil:
		asides = append(asides, backup.name)
	}
	for _, name := range asides {
		if err := w.putAside(name); err != nil {
			return keep, err
		}
	}
	if !main.sound() || from == fromBackup {
		return keep, nil
	}
	if keep, err = w.dir.Retire(main.name, main.stamp, w.sync()); err != nil {
		return keep, fmt.Errorf("back up %s: %w", main.name, err)
	}
	return keep, nil
}

func (w *writing) putAside(name string) error {
	kept, err := w.dir.PutAside(name)
	if err != nil {
		return fmt.Errorf("put damaged %s aside: %w", name, err)
	}
	w.names = true
	w.st.log.Warn("put damaged file aside", "session", w.id, "file", kept)
	return nil
}
