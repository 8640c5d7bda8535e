package sessiondir

import (
	"regexp"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/staging"
)

// The temporary files of this library, and those of the Python tools. Those of
// a copy that was to take the place of a temporary file begin with two dots.
var (
	ownTemporary   = regexp.MustCompile(`^\.\.?(transcript\.jsonl|metadata\.json|config\.md|phase_outputs\.jsonl|session_conversation\.jsonl)(\.backup|\.bak-[a-z-]+[0-9]+(-[0-9]+)?)?[0-9]+$`)
	keptTemporary  = regexp.MustCompile(`^(\.bak-[a-z-]+[0-9]+(-[0-9]+)?)?[0-9]+$`) // behind a dot and a name
	otherTemporary = regexp.MustCompile(`^(\.(transcript|metadata|config|transcript\.jsonl)_[A-Za-z0-9_]{8}\.tmp|\.transcript-backup-[A-Za-z0-9_]+|metadata\.json\.tmp)$`)
)

// Sweep removes the temporary files that killed writers left: those of this
// library, whose writers all hold the lock that the caller holds, and those of
// others when they are a day old.
func (d *Dir) Sweep() {
	names, _ := d.NamesIn(".") // what cannot be listed is removed next time
	for _, name := range names {
		if !ownTemporary.MatchString(name) && !(otherTemporary.MatchString(name) && d.old(name)) {
			continue
		}
		_ = d.Remove(name) // tried again next time
	}
}

func (d *Dir) old(name string) bool {
	fi, err := d.Root().Lstat(name)
	return err == nil && fi.Mode().IsRegular() && time.Since(fi.ModTime()) > staging.LeftAfter
}

// SweepFile removes the temporary files of the file name and of its kept
// copies, where Sweep leaves them.
func (d *Dir) SweepFile(name string) {
	names, _ := d.NamesIn(".") // what cannot be listed is removed next time
	for _, temporary := range names {
		if rest, ok := strings.CutPrefix(temporary, "."+name); ok && keptTemporary.MatchString(rest) {
			_ = d.Remove(temporary) // tried again next time
		}
	}
}
