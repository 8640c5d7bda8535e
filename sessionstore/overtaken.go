package sessionstore

import (
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/commit"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// errDisplaced tells that this call displaced a file of another writer that takes
// no lock: that writer had given the name to its own file just before this call
// did. The other writer's file is the backup now.
var errDisplaced = errors.New("another writer's file became the backup")

// overtaken reports whether err tells that another writer came between.
func overtaken(err error) bool {
	return errors.Is(err, commit.ErrOvertaken) || errors.Is(err, commit.ErrOverwritten) || errors.Is(err, errDisplaced)
}

// maxRetries is how often a write begins anew because a writer that takes no
// lock came between.
const maxRetries = 20

// displacedFile returns the displaced file of name, which is its backup now, and
// the present file, unread. The error is errDisplaced when the backup is damaged
// or empty.
func (tx *transaction) displacedFile(name string) (theirs, main file, err error) {
	theirs = readFile(tx.dir, sessiondir.Backup(name))
	if !theirs.sound() || len(theirs.data) == 0 {
		return theirs, main, errDisplaced
	}
	main = file{name: name, path: tx.dir.Path(name), found: true}
	main.stamp, err = tx.dir.Stat(name)
	return theirs, main, err
}
