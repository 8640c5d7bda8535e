package sessiondir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// Kept opens the directory name of the bookkeeping, and makes it if it is missing.
func (b *Base) Kept(name string) (*vfs.Dir, error) {
	top, err := b.open()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(Bookkeeping, name)
	if err := top.MkdirAll(path); err != nil {
		return nil, err
	}
	return top.Below(path)
}

// RemoveKept removes name from the directory dir of the bookkeeping, if it is there.
func (b *Base) RemoveKept(dir, name string) error {
	top, err := b.open()
	if err != nil {
		return err
	}
	path := filepath.Join(Bookkeeping, dir, name)
	if _, err := top.Root().Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return top.RemoveAll(path)
}

// EditKept opens the file name in the directory dir of the bookkeeping to be
// changed in place. It makes nothing. The error Is [fs.ErrNotExist] when there is
// no such file.
func (b *Base) EditKept(dir, name string) (*vfs.Edit, error) {
	top, err := b.open()
	if err != nil {
		return nil, err
	}
	return top.Edit(filepath.Join(Bookkeeping, dir, name))
}

// ReadKept returns the content of the file name, of at most so many bytes, in
// the directory dir of the bookkeeping. It makes nothing. The error Is
// [fs.ErrNotExist] when there is no such file.
func (b *Base) ReadKept(dir, name string, most int64) (data []byte, err error) {
	top, err := b.open()
	if err != nil {
		return nil, err
	}
	f, fi, err := vfs.Open(top.Root(), filepath.Join(Bookkeeping, dir, name), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if fi.Size() > most {
		return nil, fmt.Errorf("%s: %w", name, limits.ErrTooLarge)
	}
	data = make([]byte, fi.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}

// Turns is the directory of the bookkeeping with a lock for each session that had a turn.
const Turns = "turns"

// TurnLock returns the name of the lock in [Turns] under which a turn of session id runs. It
// fits every file system.
func TurnLock(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:]) + ".lock"
}

// The labels in the names of copies, for the change before which the file was copied.
// Older programs used LabelUndo for every undo.
const (
	LabelRepair  = "pre-repair"
	LabelRewind  = "pre-rewind"
	LabelSalvage = "pre-salvage"
	LabelRename  = "pre-rename"
	LabelPull    = "pre-pull"      // a sync took lines away that another device does not have any more
	LabelUndo    = "pre-undo"      // a copy that the caller named came back
	LabelBack    = "pre-undo-step" // the last change was undone
	LabelForth   = "pre-redo"      // the last undo was taken back
)

// KeptName is the name of a copy that a change keeps of a file. The reference
// names a copy by the file, the label and the second. Where a second has several
// copies, a number follows from the second copy on. It counts over all labels,
// so the copies of one second are in the order of their numbers.
type KeptName struct {
	File   string
	Label  string
	Time   time.Time // in UTC, to the second
	Number int       // 1 where the name has none
}

const keptTime = "20060102150405"

var keptName = regexp.MustCompile(`^(.+?)\.bak-(.+?)-(\d{14})(?:-(\d{1,9}))?$`)

// ParseKept reads the name of a copy. It reports whether name is one.
func ParseKept(name string) (k KeptName, ok bool) {
	part := keptName.FindStringSubmatch(name)
	if part == nil {
		return KeptName{}, false
	}
	at, err := time.Parse(keptTime, part[3])
	if err != nil {
		return KeptName{}, false
	}
	number, err := strconv.Atoi(part[4])
	if err != nil {
		number = 1
	}
	return KeptName{File: part[1], Label: part[2], Time: at, Number: number}, true
}

// KeptSuffix returns the suffix of a file's name in the name of a new copy. No copy has
// it yet, and of all copies it is the last: it has the time of the latest one where that
// is later than now, since the clock was set back, and the highest number of its second.
func (d *Dir) KeptSuffix(label string, now time.Time) (string, error) {
	at := now.UTC().Truncate(time.Second)
	names, err := d.Names()
	if err != nil {
		return "", fmt.Errorf("list %s: %w", d.Path("."), err)
	}
	last := 0
	for _, name := range names {
		if k, ok := ParseKept(name); ok && !k.Time.Before(at) {
			if k.Time.After(at) {
				at, last = k.Time, 0
			}
			last = max(last, k.Number)
		}
	}
	suffix := ".bak-" + label + "-" + at.Format(keptTime)
	if last > 0 {
		suffix += "-" + strconv.Itoa(last+1)
	}
	return suffix, nil
}

// The other files of a session in this library, beside [Transcript], [Metadata] and
// [Config].
const (
	State        = "state.json"
	Events       = "events.jsonl"
	Phases       = "phase_outputs.jsonl"
	Conversation = "session_conversation.jsonl"
	StateHistory = "state_history.jsonl"
	ImportFolder = "import"
	Draft        = ".draft.jsonl" // of an answer that streams: see sessionstore/turn
)

var (
	// Small are the files that are replaced as a whole.
	Small = [...]string{Metadata, Config, State}
	// Imported are the files that an import of another tool's history keeps, in the
	// folder [ImportFolder]. They are written with the metadata only, and never leave a
	// device with rules for the content that leaves it: the rules cannot be applied to
	// them.
	Imported = [...]string{ImportFolder + "/original.jsonl.zst", ImportFolder + "/map.jsonl"}
	// Logs are the files to which tools append lines in place, [Events] most of all.
	// The transcript is none of them: it can be rewritten.
	Logs = [...]string{Events, Phases, Conversation, StateHistory}
	// Files are all files of a session that go to other devices.
	Files = [1 + len(Small) + len(Logs)]string{
		Transcript,
		Small[0], Small[1], Small[2],
		Logs[0], Logs[1], Logs[2], Logs[3],
	}
)

// IsImported reports whether a file is one of [Imported].
func IsImported(name string) bool { return name == Imported[0] || name == Imported[1] }

// The temporary files of this library, and of the Python tools. The temporary file for a
// copy that replaces a temporary file begins with two dots.
var (
	ownTemporary   = regexp.MustCompile(`^\.\.?(transcript\.jsonl|metadata\.json|config\.md|phase_outputs\.jsonl|session_conversation\.jsonl|draft\.jsonl)(\.backup|\.(bak-[a-z-]+[0-9]+|damaged-[0-9T]+Z)(-[0-9]+)?)?[0-9]+$`)
	keptTemporary  = regexp.MustCompile(`^(\.bak-[a-z-]+[0-9]+(-[0-9]+)?)?[0-9]+$`) // behind a dot and a name
	otherTemporary = regexp.MustCompile(`^(\.(transcript|metadata|config|transcript\.jsonl)_[A-Za-z0-9_]{8}\.tmp|\.transcript-backup-[A-Za-z0-9_]+|metadata\.json\.tmp)$`)
)

// Sweep removes the temporary files of killed writers. It removes the files of this
// library at once, since its writers all hold the same lock as the caller, and the files
// of other tools when they are a day old.
func (d *Dir) Sweep() {
	names, _ := d.NamesIn(".") // files that cannot be listed are removed next time
	for _, name := range names {
		if !ownTemporary.MatchString(name) && !(otherTemporary.MatchString(name) && d.old(name)) {
			continue
		}
		_ = d.Remove(name) // tried again next time
	}
}

func (d *Dir) old(name string) bool {
	fi, err := d.Root().Lstat(name)
	return err == nil && fi.Mode().IsRegular() && time.Since(fi.ModTime()) > LeftAfter
}

// SweepFile removes the temporary files of the file name and of its kept copies, which
// Sweep does not remove.
func (d *Dir) SweepFile(name string) {
	names, _ := d.NamesIn(".") // files that cannot be listed are removed next time
	for _, temporary := range names {
		if rest, ok := strings.CutPrefix(temporary, "."+name); ok && keptTemporary.MatchString(rest) {
			_ = d.Remove(temporary) // tried again next time
		}
	}
}
