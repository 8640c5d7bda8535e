package sessionstore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// damagedFile is a damaged transcript, in its place or put aside. A backup that
// was put aside because it had no part in the transcript is one too.
type damagedFile struct {
	name, path string
	at         time.Time // of its last change, in seconds
	number     int       // among those put aside of the same second
	rows       []Message // that it holds whole
	sound      bool      // it is not damaged: a backup that was put aside
}

// damagedFiles returns the damaged transcripts, newest first: that which stands
// in its place, then those that were put aside. Where the backup cannot stand
// in, it is one of them. Last come the versions of other devices.
func (tx *transaction) damagedFiles(t *transcript) (found []damagedFile, err error) {
	for _, f := range []*file{&t.main, &t.backup} {
		if f.bad != nil && (f == &t.main || t.damage != nil) {
			found = append(found, damagedFile{name: f.name, path: f.path, at: f.stamp.Mtime, rows: f.parseRows()})
		}
	}
	aside, err := quarantinedFiles(tx.dir)
	copies, cerr := conflictCopies(tx.dir)
	return slices.Concat(found, aside, copies), joinErrors(err, cerr)
}

var quarantinedName = regexp.MustCompile(`^` + regexp.QuoteMeta(sessiondir.Transcript) + `(?:\.backup)?\.damaged-(\d{8}T\d{6}Z)(?:-(\d+))?$`)

// quarantinedFiles returns the damaged transcripts that were put aside, newest
// first.
func quarantinedFiles(dir *sessiondir.Dir) (found []damagedFile, err error) {
	names, err := dir.Names()
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir.Path("."), cause(err))
	}
	for _, name := range names {
		part := quarantinedName.FindStringSubmatch(name)
		if part == nil {
			continue
		}
		at, err := time.Parse("20060102T150405Z", part[1])
		if err != nil {
			continue
		}
		f := readFile(dir, name)
		k := damagedFile{name: name, path: f.path, at: at, rows: f.parseRows()}
		k.number, _ = strconv.Atoi(part[2]) // the first has none
		k.sound = f.sound()
		found = append(found, k)
	}
	slices.SortFunc(found, func(a, b damagedFile) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.number, a.number), cmp.Compare(a.name, b.name))
	})
	return found, nil
}

// forks returns the damaged files with messages that rows lack.
func forks(found []damagedFile, rows []Message) (all []SalvageFork) {
	for _, k := range found {
		if n := countMissing(k.rows, rows); n > 0 {
			all = append(all, SalvageFork{File: k.name, Rows: len(onlyObjects(k.rows)), Lacking: n})
		}
	}
	return all
}

// countMissing returns how many messages of whole are not among rows. Of equal
// messages it counts those that are more than in rows.
func countMissing(whole, rows []Message) (n int) {
	have := make(map[xxh3.Uint128]int, len(rows))
	for _, m := range rows {
		have[xxh3.Hash128(canonical(m))]++
	}
	for _, m := range onlyObjects(whole) {
		sum := xxh3.Hash128(canonical(m))
		if have[sum] == 0 {
			n++
			continue
		}
		have[sum]--
	}
	return n
}

// onlyObjects returns the messages of a damaged file that are JSON objects.
func onlyObjects(rows []Message) []Message {
	return slices.DeleteFunc(slices.Clone(rows), func(m Message) bool { return !m.isObject() })
}

// SalvageFork is a damaged file with messages that the transcript lacks and
// cannot take, since it went another way. Package slice makes a session of
// them: hand File to Fork as ForkOptions.Damaged.
type SalvageFork struct {
	File    string // base name of the file in the session's directory
	Rows    int    // messages that it holds whole
	Lacking int    // those of them that the transcript does not have
}

// copyName fits the names by which programs that copy folders keep the other device's
// version of a transcript: Syncthing, Dropbox and Nextcloud, Google Drive, iCloud,
// OneDrive.
var copyName = regexp.MustCompile(`^transcript(?:\.sync-conflict-\d{8}-\d{6}(?:-\w+)?| \(.+\)| \d+|-.+)\.jsonl$`)

// evicted is the name that iCloud gives a file whose content is not on this device.
const evicted = "." + sessiondir.Transcript + ".icloud"

// conflictCopies returns the versions of the transcript that other devices had, in the
// order of their names.
func conflictCopies(dir *sessiondir.Dir) (found []damagedFile, err error) {
	names, err := dir.Names()
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir.Path("."), cause(err))
	}
	for _, name := range names {
		if copyName.MatchString(name) {
			f := readFile(dir, name)
			found = append(found, damagedFile{name: name, path: f.path, at: f.stamp.Mtime, rows: f.parseRows(), sound: true})
		}
	}
	return found, nil
}

// refuseMissing returns why nothing may be written in the place of the missing
// transcript t: what was in it is still there.
func (tx *transaction) refuseMissing(t *transcript) error {
	if _, err := tx.dir.Stat(evicted); !errors.Is(err, fs.ErrNotExist) {
		return &CorruptError{Path: t.main.path, Err: fmt.Errorf("%s stands in its place: let the program that copies the folder fetch the file", evicted)}
	}
	copies, err := conflictCopies(tx.dir)
	if err != nil {
		return err
	}
	for _, c := range copies {
		if len(onlyObjects(c.rows)) > 0 {
			return &CorruptError{Path: t.main.path, Err: fmt.Errorf("%w; %s is another device's version, whose messages Store.Salvage offers", errMissing, c.name)}
		}
	}
	return nil
}
