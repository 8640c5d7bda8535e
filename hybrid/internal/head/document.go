package head

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// Types of the documents here.
const (
	TypeHead      = "head"
	TypeHistory   = "history"
	TypeCatalogue = "cat"
)

// headDoc is the document of a head, in the order of its members.
type headDoc struct {
	Type     string  `json:"type"`
	V        int     `json:"v"`
	Revision int64   `json:"rev"`
	User     string  `json:"user_id"`
	Session  string  `json:"session_id"`
	Project  string  `json:"project"`
	Parent   *string `json:"parent_id"`
	Born     string  `json:"born,omitempty"`

	Transcript *Extent                   `json:"t"`
	Logs       map[segment.Stream]Extent `json:"e,omitempty"`
	Metadata   *File                     `json:"m,omitempty"`
	Files      map[string]File           `json:"f,omitempty"`

	Histories
	Gone  []string `json:"gone,omitempty"`
	Fence string   `json:"fence,omitempty"`

	Op        string    `json:"op"`
	Writer    Writer    `json:"writer"`
	Redaction string    `json:"red,omitempty"`
	Anew      Anew      `json:"anew,omitzero"`
	Deleted   bool      `json:"deleted"`
	Updated   time.Time `json:"updated"`
}

// Metadata is the name of the file that has a member of its own in the document.
const Metadata = "metadata.json"

// Encode returns the document of t. The same head gives the same bytes.
func (t *Head) Encode() (segment.Document, error) {
	d := headDoc{
		Type: TypeHead, V: segment.Version, Revision: t.Revision,
		User: t.User, Session: t.Session, Project: t.Project, Born: t.Born,
		Transcript: new(t.Transcript.filled(segment.Transcript)),
		Histories:  t.Histories, Gone: t.Gone, Fence: t.Fence,
		Op: t.Op, Writer: t.Writer, Redaction: t.Redaction, Anew: t.Anew, Deleted: t.Deleted, Updated: t.Updated.UTC(),
	}
	if t.Parent != "" {
		d.Parent = &t.Parent
	}
	for st, r := range t.Logs {
		if d.Logs == nil {
			d.Logs = map[segment.Stream]Extent{}
		}
		d.Logs[st] = r.filled(st)
	}
	for name, f := range t.Files {
		if name == Metadata {
			d.Metadata = &f
			continue
		}
		if d.Files == nil {
			d.Files = map[string]File{}
		}
		d.Files[name] = f
	}
	body, err := marshal(&d)
	if err != nil {
		return segment.Document{}, fmt.Errorf("encode head: %w", err)
	}
	return segment.Document{
		ID: segment.HeadID(t.SID), PK: segment.SessionPK(t.SID), Type: TypeHead,
		Label: segment.Label(TypeHead), Body: body, To: t.Transcript.Point(),
	}, nil
}

// Decode reads the document of the head of session sid. Its error is
// [segment.ErrForeign], [segment.ErrFormat] or [segment.ErrDamaged].
func Decode(body []byte, sid string) (*Head, error) {
	var d headDoc
	err := json.Unmarshal(body, &d)
	if probed := segment.Probe(body, TypeHead); probed != nil {
		return nil, fmt.Errorf("decode head: %w", probed)
	}
	if err != nil {
		return nil, fmt.Errorf("decode head: %w: a member of the wrong type", segment.ErrDamaged)
	}
	if err := d.valid(); err != nil {
		return nil, fmt.Errorf("decode head: %w", err)
	}
	t := &Head{
		SID: sid, Revision: d.Revision, User: d.User, Session: d.Session, Project: d.Project, Born: d.Born,
		Transcript: *d.Transcript, Logs: d.Logs, Files: d.Files,
		Histories: d.Histories, Gone: d.Gone, Fence: d.Fence,
		Op: d.Op, Writer: d.Writer, Redaction: d.Redaction, Anew: d.Anew, Deleted: d.Deleted, Updated: d.Updated,
	}
	if d.Parent != nil {
		t.Parent = *d.Parent
	}
	if d.Metadata != nil {
		if t.Files == nil {
			t.Files = map[string]File{}
		}
		t.Files[Metadata] = *d.Metadata
	}
	return t, nil
}

func (d *headDoc) valid() error {
	if d.Transcript == nil || d.Revision < 1 {
		return fmt.Errorf("%w: members missing", segment.ErrDamaged)
	}
	if err := d.Transcript.valid(segment.Transcript); err != nil {
		return err
	}
	for s, r := range d.Logs {
		if _, err := segment.ParseStream(string(s)); err != nil || s == segment.Transcript {
			return fmt.Errorf("%w: unknown stream", segment.ErrDamaged)
		}
		if err := r.valid(s); err != nil {
			return err
		}
	}
	return nil
}

type historyLabel struct {
	Type   string         `json:"type"`
	V      int            `json:"v"`
	Stream segment.Stream `json:"st"`
	Extent *Extent        `json:"t"`
	Common int64          `json:"common,omitempty"`
	Why    string         `json:"why"`
	Device string         `json:"dev"`
	KeptAs string         `json:"kept_as,omitempty"`
	At     time.Time      `json:"at"`
}

// Encode returns the document of h, which belongs to session sid.
func (h *History) Encode(sid string) (segment.Document, error) {
	d := historyLabel{
		Type: TypeHistory, V: segment.Version,
		Stream: h.Stream, Extent: new(h.Extent.filled(h.Stream)), Common: h.Common, Why: h.Why, Device: h.Device, KeptAs: h.KeptAs, At: h.At.UTC(),
	}
	label, err := marshal(&d)
	if err != nil {
		return segment.Document{}, fmt.Errorf("encode history: %w", err)
	}
	return segment.Document{ID: h.ID, PK: segment.SessionPK(sid), Type: TypeHistory, Label: label}, nil
}

// DecodeHistory reads the label of a history of session sid. Errors are as of [Decode].
func DecodeHistory(id string, label []byte, sid string) (h History, err error) {
	var d historyLabel
	err = json.Unmarshal(label, &d)
	if probed := segment.Probe(label, TypeHistory); probed != nil {
		return h, fmt.Errorf("decode history: %w", probed)
	}
	if err != nil || d.Extent == nil || !strings.HasPrefix(id, segment.HistoryID(sid, "")) {
		return h, fmt.Errorf("decode history: %w: members missing, or of the wrong type", segment.ErrDamaged)
	}
	if _, err := segment.ParseStream(string(d.Stream)); err != nil {
		return h, fmt.Errorf("decode history: %w: unknown stream", segment.ErrDamaged)
	}
	if err := d.Extent.valid(d.Stream); err != nil {
		return h, fmt.Errorf("decode history: %w", err)
	}
	return History{id, d.Stream, *d.Extent, d.Common, d.Why, d.Device, d.KeptAs, d.At}, nil
}

// filled returns r, with the hash of the beginning where nothing is stored yet.
func (r Extent) filled(s segment.Stream) Extent {
	if r.N == 0 && r.Hash.IsZero() {
		r.Hash = segment.Origin(s).Hash
	}
	return r
}

func (r Extent) valid(s segment.Stream) error {
	if r.N < 0 || r.Bytes < r.N || r.Turns < 0 || r.N == 0 && r.Hash != segment.Origin(s).Hash {
		return errors.Join(segment.ErrDamaged, fmt.Errorf("numbers of stream %s cannot be", s))
	}
	return validRules(r.Rules, r.N)
}

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// An Extent records how far a stream is stored.
type Extent struct {
	N     int64        `json:"n"`
	Hash  segment.Hash `json:"h"`
	Bytes int64        `json:"bytes"` // of its lines, each with its LF
	Turns int          `json:"turns,omitempty"`
	Rules []Rules      `json:"red,omitempty"` // of redaction; nil: its lines went through none
}

// Point returns the end of the stored history.
func (r Extent) Point() segment.Point { return segment.Point{N: r.N, Hash: r.Hash} }

// ExtentOf returns the extent of a stream that is stored up to m.
func ExtentOf(m segment.Mark) Extent {
	return Extent{N: m.N, Hash: m.Hash, Bytes: m.Bytes, Turns: m.Turn}
}

// A Rules is the version of the rules of redaction that the lines from From on went
// through, up to the next Rules; "" for none.
type Rules struct {
	From    int64  `json:"n"`
	Version string `json:"v"`
}

// maxRules is the largest number of ranges of an extent. Beyond that the two oldest
// become one, under the version of the first.
const maxRules = 32

// Ruled returns r with the rules of its lines: the rules was before line n, and that
// version from there on.
func (r Extent) Ruled(was []Rules, n int64, version string) Extent {
	rules := slices.DeleteFunc(slices.Clone(was), func(w Rules) bool { return w.From >= n })
	if r.N > n && (len(rules) == 0 || rules[len(rules)-1].Version != version) {
		rules = append(rules, Rules{n, version})
	}
	if len(rules) > maxRules {
		rules = slices.Delete(rules, 1, 2)
	}
	if len(rules) == 0 || len(rules) == 1 && rules[0] == (Rules{Version: version}) && version == "" {
		rules = nil // nothing was ever redacted
	}
	r.Rules = rules
	return r
}

// under reports whether some lines have that version only.
func under(rules []Rules, version string) bool {
	return !slices.ContainsFunc(rules, func(r Rules) bool { return r.Version != version })
}

// Through reports whether all lines are known to have gone through that version of the
// rules.
func (r Extent) Through(version string) bool {
	return r.N == 0 || len(r.Rules) > 0 && under(r.Rules, version)
}

func validRules(rules []Rules, n int64) error {
	at := int64(-1)
	for i, r := range rules {
		if r.From <= at || r.From >= n || i == 0 && r.From != 0 {
			return fmt.Errorf("%w: rules of lines that cannot be", segment.ErrDamaged)
		}
		at = r.From
	}
	return nil
}
