package sessionstore

import "fmt"

// rotate prepares the replacement of main, and reports whether main becomes the
// backup. A sound main does, unless the backup was read in its place: that backup
// stays. rotate quarantines damaged files, and a backup with content that an
// empty main would replace.
func (tx *transaction) rotate(main, backup *file, from origin) (rotates bool, err error) {
	switch {
	case main.sound() && from != fromBackup:
		if main.stamp.Size == 0 && backup.found && (backup.bad != nil || len(backup.data) > 0) {
			err = tx.quarantine(backup)
		}
		return true, err
	case main.bad != nil:
		err = tx.quarantineMain(main)
	}
	if err == nil && backup.bad != nil {
		err = tx.quarantine(backup)
	}
	return false, err
}

// quarantine renames a backup to a name under which no save changes it.
func (tx *transaction) quarantine(backup *file) error {
	name, err := tx.dir.Quarantine(backup.name)
	return tx.quarantined(backup, name, err)
}

// quarantineMain gives a damaged file a second name, under which it stays when
// its own name goes to another file.
func (tx *transaction) quarantineMain(main *file) error {
	name, err := tx.dir.QuarantineLinked(main.name)
	return tx.quarantined(main, name, err)
}

// quarantined notes and logs that f has another name now, unless err tells
// that it does not.
func (tx *transaction) quarantined(f *file, name string, err error) error {
	if err != nil {
		return fmt.Errorf("put damaged %s aside: %w", f.name, err)
	}
	tx.namesChanged = true
	tx.st.log.Warn("put damaged file aside", "session", tx.id, "file", name)
	return nil
}
