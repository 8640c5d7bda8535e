package sessionstore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// transcript returns the transcript on disk for writing. It returns an error, and nothing
// may be written, while there is a marker and the backup is no transcript, and while the
// system does not let the transcript be read.
func (tx *transaction) transcript(md Metadata) (*transcript, error) {
	t, err := tx.existing(md)
	if err == nil && t.gone {
		t.damage, err = nil, tx.refuseMissing(t)
	}
	return t, err
}

// existing is transcript, but also returns a missing transcript that must not be written.
func (tx *transaction) existing(md Metadata) (*transcript, error) {
	t := tx.read(md)
	if t.unread != nil {
		return nil, t.unread
	}
	if t.appendPending && t.damage != nil {
		return nil, t.damage
	}
	return &t, nil
}

// read reads the transcript as the only writer.
func (tx *transaction) read(md Metadata) transcript {
	return tx.st.transcriptOf(tx.s, tx.dir, tx.id, md)
}

// saveTranscript makes the storable messages of want the transcript, in place of t.
func (tx *transaction) saveTranscript(t *transcript, want []Message) error {
	if t.cached != nil && !t.cached.nonCanonical {
		if n, ok := tx.matchPrefix(want, t.rows); ok {
			added, err := tx.st.storable(want[n:], n)
			if err != nil {
				return err
			}
			t.cached = t.cached.withMessages(want[:n])
			return tx.extend(t, added)
		}
	}
	rows, err := tx.st.storable(want, 0)
	if err != nil {
		return err
	}
	return tx.writeRows(t, rows)
}

// matchPrefix returns the number of messages of want that match have, all of which is
// stored. Messages of want that are not stored are skipped, and count. ok is false when
// want does not begin with have. Messages that this store returned are compared by
// identity.
func (tx *transaction) matchPrefix(want, have []Message) (n int, ok bool) {
	if sameMessages(want, have) {
		return len(have), true
	}
	for _, m := range have {
		for n < len(want) && want[n] != m && want[n].m != nil && want[n].m.places.role == unstoredRole {
			n++
		}
		if n == len(want) || want[n] != m && !tx.wouldStore(want[n], m) {
			return n, false
		}
		n++
	}
	return n, true
}

// sameMessages reports whether want begins with the very messages of have.
func sameMessages(want, have []Message) bool {
	if len(want) < len(have) {
		return false
	}
	const step = 64 // compared as one piece of memory
	for len(have) >= step {
		if *(*[step]Message)(want) != *(*[step]Message)(have) {
			return false
		}
		want, have = want[step:], have[step:]
	}
	return slices.Equal(want[:len(have)], have)
}

// wouldStore reports whether a save of m writes the line of row.
func (tx *transaction) wouldStore(m, row Message) bool {
	if m.m == nil {
		return false
	}
	if tx.st.opts.Portable {
		m = m.portable()
	}
	return bytes.Equal(m.m.raw, row.m.raw)
}

// storable returns the messages that are stored. Errors call the first message number at.
func (st *Store) storable(msgs []Message, at int) ([]Message, error) {
	rows := make([]Message, 0, len(msgs))
	for i, m := range msgs {
		if m.m == nil {
			return nil, zeroMessage(at + i)
		}
		if m.m.places.role == unstoredRole {
			continue
		}
		if st.opts.Portable {
			m = m.portable()
		}
		rows = append(rows, m)
	}
	return rows, nil
}

func zeroMessage(i int) error {
	return fmt.Errorf("message %d: %w: it is the zero Message", i, ErrUnstorable)
}

// refuseWindow returns [ErrWindow] if want is a window of t with messages behind it: t
// ends with messages with which want begins, its first message is not among these, and a
// person wrote a message before the longest possible overlap.
func (tx *transaction) refuseWindow(t *transcript, want []Message) error {
	if t.from != fromMain || !t.main.found || t.damage != nil || t.appendPending || len(t.rows) < 2 {
		return nil
	}
	first := slices.IndexFunc(want, func(m Message) bool { return m.m == nil || m.m.places.role != unstoredRole })
	if first < 0 || want[first] == t.rows[0] || tx.wouldStore(want[first], t.rows[0]) {
		return nil // nothing is stored, or the transcript begins as before
	}
	rows, err := tx.st.storable(want, 0)
	if err != nil {
		return nil // the save returns the error
	}
	least, most := overlap(t.rows, rows)
	isFirst := func(m Message) bool { return sameBytes(m, t.rows[0]) }
	if least == 0 || slices.ContainsFunc(t.rows[len(t.rows)-least:], isFirst) || countUsers(t.rows[:len(t.rows)-most]) == 0 {
		return nil
	}
	return ErrWindow
}

// overlap returns the least and the greatest number of messages that are both the end of
// old and the beginning of next. Both are 0 if there is no overlap. The first message of
// old does not count. The time grows with the sum of both lengths.
func overlap(old, next []Message) (least, most int) {
	next = next[:min(len(next), len(old))]
	borders := make([]int, len(next)) // of next[:i+1]: the longest that it begins and ends with
	step := func(at int, m Message) int {
		for at > 0 && (at == len(next) || !sameBytes(next[at], m)) {
			at = borders[at-1]
		}
		if sameBytes(next[at], m) {
			at++
		}
		return at
	}
	for i := 1; i < len(next); i++ {
		borders[i] = step(borders[i-1], next[i])
	}
	at := 0
	for _, m := range old[1:] {
		at = step(at, m)
	}
	for least = at; least > 0 && borders[least-1] > 0; {
		least = borders[least-1]
	}
	return least, at
}

// sameBytes reports whether two messages are written as the same bytes.
func sameBytes(a, b Message) bool { return a == b || string(a.m.line()) == string(b.m.line()) }

// damagedFile is a damaged transcript, in its place or put aside. A backup that was put
// aside because it had no part in the transcript is a damagedFile, too.
type damagedFile struct {
	name, path string
	at         time.Time // of its last change, in seconds
	number     int       // among the files put aside in the same second
	rows       []Message // the whole messages in it
	sound      bool      // not damaged: a backup that was put aside
}

// damagedFiles returns the damaged transcripts, newest first: transcript.jsonl if it is
// damaged, then the files that were put aside. Where the backup cannot replace it, the
// backup is one of them. Last come the versions of other devices.
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

// countMissing returns how many messages of whole are not among rows. Of equal messages
// it counts the surplus over rows.
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

// SalvageFork is a damaged file with messages that the transcript lacks and cannot take,
// since the two differ. Package slice makes a session of these messages: pass File to
// Fork as ForkOptions.Damaged.
type SalvageFork struct {
	File    string // base name of the file in the session's directory
	Rows    int    // messages that it holds whole
	Lacking int    // number of these messages that the transcript lacks
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

// refuseMissing returns the reason why nothing may be written in place of the missing
// transcript t: its messages are still in the directory.
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
