package sessionstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/internal/format/pyyaml"
)

// metadata returns the metadata of the session.
func (tx *transaction) metadata() metadataFile {
	return tx.st.metadataOf(tx.s, tx.dir, tx.id)
}

// replaceMetadata writes content as metadata.json in the place of m, unless m is
// the same. The error is one of [overtaken] when another writer came between.
func (tx *transaction) replaceMetadata(m *metadataFile, content []byte) error {
	if m.unread != nil {
		return m.unread
	}
	if m.main.sound() && bytes.Equal(m.main.data, content) {
		return nil
	}
	from := fromMain
	if !m.main.sound() && m.backup.sound() {
		from = fromBackup
	}
	r := commit.Replacement{
		Was:    m.main.stamp,
		Time:   vfs.Now(m.main.stamp.Mtime),
		Write:  func(out io.Writer) error { _, err := out.Write(content); return err },
		Rotate: func() (bool, error) { return tx.rotate(&m.main, &m.backup, from) },
	}
	done, err := tx.commitAmended(m, content)
	if err == nil {
		r.Time = m.amended.time
	} else if errors.Is(err, commit.ErrRewrite) {
		m.amended.discard()
		done, err = tx.replace(sessiondir.Metadata, r)
	}
	if err != nil {
		return err
	}
	if done.Displaced {
		return errDisplaced
	}
	return tx.putWrittenMetadata(content, r.Time, done.Main)
}

// commitAmended makes the backup of m, which has content, the metadata. The error Is
// [commit.ErrRewrite] where the backup has not.
func (tx *transaction) commitAmended(m *metadataFile, content []byte) (commit.Result, error) {
	if m.amended.file == nil || !bytes.Equal(m.amended.content, content) {
		return commit.Result{}, commit.ErrRewrite
	}
	done, err := m.amended.file.Commit()
	m.amended.discard()
	if err == nil {
		tx.noteRename(sessiondir.Metadata)
	}
	return done, err
}

// putWrittenMetadata caches content, which was just written to the file with that
// stamp, which was given the time set.
func (tx *transaction) putWrittenMetadata(content []byte, set time.Time, stamp sessiondir.Stamp) error {
	if stamp.Size != int64(len(content)) || !stamp.Mtime.Equal(set) {
		return nil // another writer's, or a file system with a coarse clock
	}
	md, err := ParseMetadata(content)
	if err != nil {
		return err
	}
	m := metadataFile{md: md, writtenTime: set}
	m.main = file{name: sessiondir.Metadata, path: tx.dir.Path(sessiondir.Metadata), found: true, data: content, stamp: stamp}
	tx.s.putMetadata(m, time.Now())
	return nil
}

// saveMetadata is replaceMetadata with retries: when another writer came between, edit
// makes new content from the metadata of that writer.
func (tx *transaction) saveMetadata(m *metadataFile, content []byte, edit func(*metadataFile) ([]byte, error)) error {
	err := tx.replaceMetadata(m, content)
	for try := 0; try < maxRetries && overtaken(err); try++ {
		tx.s.invalidate()
		now := tx.metadata()
		if errors.Is(err, errDisplaced) {
			theirs, ok := tx.displacedMetadata(now)
			if !ok {
				return nil
			}
			now = theirs
		}
		if content, err = edit(&now); err != nil {
			return err
		}
		err = tx.replaceMetadata(&now, content)
	}
	return tx.conflict(sessiondir.Metadata, err)
}

// displacedMetadata returns the metadata that this call displaced, with the present file
// ours as its main. ok is false when the displaced file is not whole any more.
func (tx *transaction) displacedMetadata(ours metadataFile) (metadataFile, bool) {
	theirs, _, err := tx.displacedFile(sessiondir.Metadata)
	if err != nil {
		return ours, false
	}
	md := theirs.parseMetadata()
	return metadataFile{main: ours.main, backup: theirs, md: md, displaced: true}, theirs.sound()
}

// Naming is a name for a session, with the conditions under which it is taken.
type Naming struct {
	Name             string // 1 to 200 characters, space around it not counted
	Source           string // where Name is from: "manual", "generated" or "fallback"
	Description      string // "": stays as it is
	ExpectedRevision *int   // the name_revision on disk that a generated name and any description require; nil: any
	OnlyIfMissing    bool   // keep an existing name, and an existing description
}

// The sources of names.
const (
	manualName    = "manual"
	generatedName = "generated"
	fallbackName  = "fallback"
)

// maxName is the newer tools' limit, in code points.
const maxName = 200

// SetName names a session by the newer Amplifier tools' precedence, and
// reports whether it wrote:
//
//   - a manual name is always taken;
//   - a generated name when there is no name, or a generated or fallback name, and the
//     revision is the expected one;
//   - a fallback when there is no name, or another fallback.
//
// A name without a source, as older tools write it, and a name with an unknown source
// count as manual. A name that is taken increments name_revision; the same name of the
// same source changes nothing. The description is decided by itself. No other member
// changes, and nothing is redacted.
//
// Metadata is read as by [Store.LoadStrict]: the backup replaces a damaged file, which is
// kept aside, and when both are damaged the error Is [ErrCorrupt] and nothing is written.
// A name or source that is not allowed is [ErrUnstorable].
func (st *Store) SetName(ctx context.Context, id string, n Naming) (md Metadata, changed bool, err error) {
	n, err = n.checked()
	if err != nil {
		return Metadata{}, false, wrap("set name of", id, err)
	}
	tx, err := st.begin(ctx, "set name of", id, 0)
	if err != nil {
		return Metadata{}, false, err
	}
	defer tx.end(&err)
	for tx.next(&err) {
		md, changed, err = tx.setName(n)
		for try := 0; try < maxRetries && overtaken(err); try++ {
			md, changed, err = tx.setName(n)
		}
		err = tx.conflict(sessiondir.Metadata, err)
	}
	if err != nil {
		return Metadata{}, false, err
	}
	return md, changed, nil
}

// setName applies n to the metadata on disk.
func (tx *transaction) setName(n Naming) (Metadata, bool, error) {
	h, disk, err := readStrictMetadata(tx.dir)
	if err = cmp.Or(err, h.main.unread); err != nil {
		return disk, false, err
	}
	md, changed, err := n.apply(disk, pytime.Format(tx.st.opts.Now().UTC()))
	if err != nil || !changed {
		return md, false, err
	}
	content, err := pyjson.Append(nil, md.object(), pyjson.Style{Indent: 2, Finite: true, Portable: tx.st.opts.Portable})
	if err != nil {
		return md, false, unstorable("encode metadata", err)
	}
	if err := tx.ctx.Err(); err != nil {
		return md, false, err
	}
	return md, true, tx.replaceMetadata(&metadataFile{main: h.main, backup: h.backup}, content)
}

// checked returns n as SetName stores it, or the reason why it cannot be stored.
func (n Naming) checked() (Naming, error) {
	n.Name = strings.TrimFunc(strings.ToValidUTF8(n.Name, "\uFFFD"), isSpace)
	n.Description = strings.ToValidUTF8(n.Description, "\uFFFD")
	if length := utf8.RuneCountInString(n.Name); length == 0 || length > maxName {
		return n, limits.Reference(ErrUnstorable, "Session names must contain 1 to 200 characters")
	}
	switch n.Source {
	case manualName, generatedName, fallbackName:
		return n, nil
	}
	return n, limits.Reference(ErrUnstorable, "Unknown session name source")
}

// apply returns md with the members that n sets at the time now, and reports whether it
// set any.
func (n Naming) apply(md Metadata, now string) (Metadata, bool, error) {
	revision := nameRevision(md)
	expected := n.ExpectedRevision == nil || revision.Cmp(big.NewInt(int64(*n.ExpectedRevision))) == 0
	var set []assignment
	if n.takesName(md, expected) {
		next := json.RawMessage(revision.Add(revision, big.NewInt(1)).String())
		set = append(set, assignment{"name", n.Name}, assignment{"name_source", n.Source},
			assignment{"name_revision", next}, assignment{"name_updated_at", now})
		if n.Source == generatedName {
			set = append(set, assignment{"name_generated_at", now})
		}
	}
	if expected && n.takesDescription(md) {
		set = append(set, assignment{"description", n.Description}, assignment{"description_updated_at", now})
	}
	for _, a := range set {
		if err := md.Set(a.name, a.value); err != nil {
			return Metadata{}, false, fmt.Errorf("set %s: %w", a.name, err)
		}
	}
	return md, len(set) > 0, nil
}

type assignment struct {
	name  string
	value any
}

// takesName reports whether the name of n replaces the name of md. expected says whether
// the revision is the expected one.
func (n Naming) takesName(md Metadata, expected bool) bool {
	if md.is("name", n.Name) && md.is("name_source", n.Source) {
		return false
	}
	named := md.truthy("name")
	fallback := md.is("name_source", fallbackName)
	switch {
	case named && n.OnlyIfMissing:
		return false
	case n.Source == generatedName:
		return expected && (!named || fallback || md.is("name_source", generatedName))
	case n.Source == fallbackName:
		return !named || fallback
	}
	return true
}

func (n Naming) takesDescription(md Metadata) bool {
	if n.Description == "" || n.OnlyIfMissing && md.truthy("description") {
		return false
	}
	return !md.is("description", n.Description)
}

// nameRevision returns the member name_revision, 0 where it is no natural
// number.
func nameRevision(md Metadata) *big.Int {
	raw, ok := md.lookup("name_revision")
	if ok && pyjson.KindOf(raw) == pyjson.Integer {
		if n, ok := new(big.Int).SetString(string(raw), 10); ok && n.Sign() >= 0 {
			return n
		}
	}
	return new(big.Int)
}

// is reports whether the member name is the string text.
func (md Metadata) is(name, text string) bool {
	raw, ok := md.lookup(name)
	return ok && pyjson.KindOf(raw) == pyjson.String && pyjson.KeyIs(raw, text)
}

// truthy reports whether Python counts the member name as true.
func (md Metadata) truthy(name string) bool {
	raw, ok := md.lookup(name)
	return ok && pyjson.Truthy(raw)
}

// UpdateMetadata hands the metadata on disk to edit, writes the edited metadata, and
// returns them, secrets not redacted. Other calls that write the session wait until then.
// When a tool that takes no lock writes the metadata in between, edit is called again
// with the metadata of that tool. When edit returns an error, UpdateMetadata returns that
// error and writes nothing. Damaged metadata is replaced, and kept aside, as by
// [Store.Save]; edit is then given the reference's placeholder.
func (st *Store) UpdateMetadata(ctx context.Context, id string, edit func(*Metadata) error) (md Metadata, err error) {
	tx, err := st.begin(ctx, "update metadata of", id, 0)
	if err != nil {
		return Metadata{}, err
	}
	defer tx.end(&err)
	for tx.next(&err) {
		md, err = tx.updateMetadata(edit)
	}
	if err != nil {
		return Metadata{}, err
	}
	return md, nil
}

func (tx *transaction) updateMetadata(edit func(*Metadata) error) (md Metadata, err error) {
	edited := func(m *metadataFile) ([]byte, error) {
		md = m.md
		if err := edit(&md); err != nil {
			return nil, err
		}
		content, err := md.file(tx.st.opts.Portable)
		if err != nil {
			return nil, fmt.Errorf("encode metadata: %w", err)
		}
		return content, tx.ctx.Err()
	}
	m := tx.metadata()
	if m.unread != nil {
		return md, m.unread
	}
	content, err := edited(&m)
	if err != nil {
		return md, err
	}
	return md, tx.saveMetadata(&m, content, edited)
}

// SaveConfig writes config as the session's config.md, YAML between two lines
// of dashes, byte for byte as the reference does. The session's directory is
// made when there is none. Nothing is redacted.
func (st *Store) SaveConfig(ctx context.Context, id string, config Metadata) (err error) {
	tx, err := st.begin(ctx, "save config of", id, creates)
	if err != nil {
		return err
	}
	defer tx.end(&err)
	for tx.next(&err) {
		err = tx.saveConfig(config)
	}
	return err
}

func (tx *transaction) saveConfig(config Metadata) error {
	content, err := pyyaml.Append([]byte("---\n"), config.object())
	if err != nil {
		return fmt.Errorf("encode config: %w", err)
	}
	content = append(content, "---\n\nConfig snapshot for session "+tx.id+"\n"...)
	if err := tx.ctx.Err(); err != nil {
		return err
	}
	_, err = tx.replace(sessiondir.Config, commit.Replacement{
		Time:   time.Now(),
		Write:  func(out io.Writer) error { _, err := out.Write(content); return err },
		Rotate: func() (bool, error) { return true, nil },
	})
	return err
}
