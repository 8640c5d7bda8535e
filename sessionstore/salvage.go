package sessionstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// SalvageReport is the result of [Store.Salvage], with further files that it found.
type SalvageReport struct {
	Rows  int           // messages that became part of the transcript; 0: nothing was written
	From  string        // the damaged file that holds them; empty when Rows is 0
	Kept  string        // a copy of the transcript as it was before; empty when Rows is 0
	Forks []SalvageFork // files whose messages only fit into a session of their own, newest first
}

// Salvage adds to the transcript whole messages of a damaged file that [Store.Load] does
// not return: a torn last line costs that line, while Load falls back to the backup,
// which may be a whole save behind.
//
// Salvage looks at the damaged transcript.jsonl itself, and at the files that saves have
// put aside as transcript.jsonl.damaged-<time>, newest first. It takes the first that
// continues the transcript: its messages begin with all messages of the transcript. The
// messages after them are added in their order. Lines that cannot be read, or hold no
// JSON object, are left out, wherever they are. A file does not continue the transcript
// when a message in it differs or is unreadable at a place where the transcript has one,
// or when the transcript was shortened since the file was put aside. When both
// transcript.jsonl and its backup are damaged there is no transcript to continue. The
// report then offers the file as a fork, if it has messages that the transcript lacks. It
// also offers another device's version of the transcript, which a program that copies
// folders left beside it. The report of a session that lost nothing is the zero
// SalvageReport.
//
// When Salvage returns nil, the transcript is as durable as after [Store.Append]. No
// damaged byte goes away: a damaged transcript.jsonl is put aside. The former transcript
// is kept as transcript.jsonl.bak-pre-salvage-<time>, which Undo of package slice brings
// back. Metadata stays as it is.
//
// While there is a marker of another tool's append, also of an append that was killed,
// Salvage fails and changes nothing; the next save clears the marker. The error Is
// [ErrConflict] when another writer came between.
func (st *Store) Salvage(ctx context.Context, id string) (report SalvageReport, err error) {
	tx, err := st.begin(ctx, "salvage", id, owns)
	if err != nil {
		return SalvageReport{}, err
	}
	defer tx.end(&err)
	report, err = tx.salvage()
	if err = tx.commit(err); err != nil {
		return SalvageReport{}, err
	}
	return report, nil
}

func (tx *transaction) salvage() (SalvageReport, error) {
	t := tx.st.transcriptOf(tx.ctx, tx.s, tx.dir, tx.id, tx.metadata().md)
	switch {
	case t.unread != nil:
		return SalvageReport{}, t.unread
	case t.appendPending && t.damage != nil:
		return SalvageReport{}, t.damage
	case t.appendPending:
		return SalvageReport{}, errAppending
	}
	found, err := tx.damagedFiles(&t)
	if err != nil {
		return SalvageReport{}, err
	}
	if t.damage != nil { // the messages of t are only the rest of a transcript
		return SalvageReport{Forks: forks(found, nil)}, nil
	}
	at, err := tx.continued(&t, found)
	if err != nil {
		return SalvageReport{}, err
	}
	if at < 0 {
		return SalvageReport{Forks: forks(found, t.rows)}, nil
	}
	if err := tx.ctx.Err(); err != nil {
		return SalvageReport{}, err
	}
	report, more := SalvageReport{From: found[at].path}, rowsBeyond(found[at].rows, t.rows)
	if report.Kept, err = tx.addSalvaged(&t, more); err != nil {
		return SalvageReport{}, err
	}
	report.Rows = len(more)
	if found[at].name == sessiondir.Transcript {
		report.From = t.recovered.Kept // where it was put aside
	}
	aside, err := quarantinedFiles(tx.dir)
	copies, cerr := conflictCopies(tx.dir)
	report.Forks = forks(append(aside, copies...), slices.Concat(t.rows, more))
	return report, joinErrors(err, cerr)
}

// continued returns the place of the first file that continues t, or -1.
func (tx *transaction) continued(t *transcript, found []damagedFile) (int, error) {
	for i := range found {
		if ok, err := tx.continues(t, &found[i]); ok || err != nil {
			return i, err
		}
	}
	return -1, nil
}

// continues reports whether the messages of k begin with the messages of t and go on, and
// t was not shortened since k was the transcript.
func (tx *transaction) continues(t *transcript, k *damagedFile) (bool, error) {
	switch {
	case k.sound || len(rowsBeyond(k.rows, t.rows)) == 0:
		return false, nil
	case k.name == sessiondir.Transcript:
		return true, nil
	case len(t.rows) == 0:
		return false, nil
	}
	if shortened, err := rewound(tx.dir, k.at); shortened || err != nil {
		return false, err
	}
	// A save of fewer messages leaves the removed messages in the backup.
	backup := readFile(tx.dir, sessiondir.Backup(sessiondir.Transcript))
	before := backup.parseRows(context.Background())
	return !backup.sound() || len(before) <= len(t.rows), nil
}

// addSalvaged adds more to the transcript t. It keeps a copy of t, and returns the path
// of the copy.
func (tx *transaction) addSalvaged(t *transcript, more []Message) (kept string, err error) {
	name, err := tx.keepCopy(sessiondir.LabelSalvage, t)
	if err != nil {
		return "", fmt.Errorf("keep the transcript: %w", err)
	}
	err = tx.extend(t, more)
	if overtaken(err) {
		return "", joinErrors(tx.conflict(sessiondir.Transcript, err), tx.dir.Remove(name))
	}
	if err != nil {
		if now, serr := tx.dir.Stat(sessiondir.Transcript); serr == nil && now.Same(t.main.stamp) {
			err = joinErrors(err, tx.dir.Remove(name))
		}
		return "", err
	}
	tx.s.invalidate() // a damaged file may hold what no save would store
	return tx.dir.Path(name), nil
}

// keepCopy copies the file that t was read from to a name of its own, in the form that
// the reference's tools use, and makes the copy durable if the store is durable.
func (tx *transaction) keepCopy(label string, t *transcript) (name string, err error) {
	suffix, err := tx.dir.KeptSuffix(label, tx.st.opts.Now())
	if err != nil {
		return "", err
	}
	name = sessiondir.Transcript + suffix
	from := t.main.name
	if t.from == fromBackup {
		from = t.backup.name
	}
	if err := tx.dir.Copy(from, name, tx.sync()); err != nil {
		return "", err
	}
	tx.namesChanged = true
	tx.wrote = append(tx.wrote, name)
	if !tx.sync() {
		return name, nil
	}
	if err := tx.syncNames(); err != nil {
		return "", joinErrors(err, tx.dir.Remove(name))
	}
	return name, nil
}

// restoreFrom writes the bytes of the file name as the transcript in the place
// of t. The error is one of [overtaken] when another writer came between.
func (tx *transaction) restoreFrom(t *transcript, name string) error {
	src, at, err := tx.dir.Open(name)
	if err != nil {
		return err
	}
	tx.dir.Sweep()
	set := writtenAt(t.main.stamp.Mtime)
	if at.Size == 0 {
		if set, err = tx.dir.MarkEmpty(t.main.stamp.Mtime, tx.sync()); err != nil {
			return errors.Join(err, src.Close())
		}
	}
	done, err := tx.replace(sessiondir.Transcript, commit.Replacement{
		Was:  t.main.stamp,
		Time: set,
		Write: func(out io.Writer) error {
			_, err := src.Seek(0, io.SeekStart)
			if err == nil {
				_, err = io.Copy(out, src)
			}
			return err
		},
		Rotate: func() (bool, error) { return tx.rotateTranscript(t) },
	})
	if err = errors.Join(err, src.Close()); err != nil {
		return err
	}
	tx.s.invalidate()
	if t.appendPending {
		if err := tx.removeMarker(); err != nil {
			return err
		}
	}
	if done.Displaced {
		return errDisplaced
	}
	return nil
}

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
			found = append(found, damagedFile{name: f.name, path: f.path, at: f.stamp.Mtime, rows: f.parseRows(context.Background())})
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
		return nil, fmt.Errorf("list %s: %w", dir.Path("."), vfs.Cause(err))
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
		k := damagedFile{name: name, path: f.path, at: at, rows: f.parseRows(context.Background())}
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
		have[xxh3.Hash128(pyjson.Canonical(m.m.value()))]++
	}
	for _, m := range onlyObjects(whole) {
		sum := xxh3.Hash128(pyjson.Canonical(m.m.value()))
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
		return nil, fmt.Errorf("list %s: %w", dir.Path("."), vfs.Cause(err))
	}
	for _, name := range names {
		if copyName.MatchString(name) {
			f := readFile(dir, name)
			found = append(found, damagedFile{name: name, path: f.path, at: f.stamp.Mtime, rows: f.parseRows(context.Background()), sound: true})
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
