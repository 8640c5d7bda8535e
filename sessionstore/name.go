package sessionstore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
)

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
