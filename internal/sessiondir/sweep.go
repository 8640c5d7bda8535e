package sessiondir

import (
	"regexp"
	"time"
)

// The temporary files of this library, and those of the Python tools.
var (
	ownTemporary   = regexp.MustCompile(`^\.(transcript\.jsonl|metadata\.json|config\.md|phase_outputs\.jsonl|session_conversation\.jsonl)(\.backup)?[0-9]+$`)
	otherTemporary = regexp.MustCompile(`^(\.(transcript|metadata|config|transcript\.jsonl)_[A-Za-z0-9_]{8}\.tmp|\.transcript-backup-[A-Za-z0-9_]+|metadata\.json\.tmp)$`)
)

// Sweep removes the temporary files that killed writers left: those of this
// library, whose writers all hold the lock that the caller holds, and those of
// others when they are a day old.
func (d *Dir) Sweep() {
	for _, name := range names(d.Root(), ".") {
		if !ownTemporary.MatchString(name) && !(otherTemporary.MatchString(name) && d.old(name)) {
			continue
		}
		_ = d.Remove(name) // tried again next time
	}
}

func (d *Dir) old(name string) bool {
	fi, err := d.Root().Lstat(name)
	return err == nil && fi.Mode().IsRegular() && time.Since(fi.ModTime()) > leftAfter
}
