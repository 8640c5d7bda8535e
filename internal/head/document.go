package head

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// Types of the documents here.
const (
	TypeHead      = "head"
	TypeBranch    = "branch"
	TypeCatalogue = "cat"
)

// headDoc is the document of a head, in the order of its members.
type headDoc struct {
	ID       string  `json:"id"`
	PK       string  `json:"pk"`
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

	Old        []Old    `json:"old,omitempty"`
	Branches   []Branch `json:"branches,omitempty"`
	OldMore    []string `json:"old_more,omitempty"`
	BranchMore []string `json:"branches_more,omitempty"`

	Op        string    `json:"op"`
	Writer    Writer    `json:"writer"`
	Redaction string    `json:"red,omitempty"`
	Anew      Anew      `json:"anew,omitzero"`
	Deleted   bool      `json:"deleted"`
	TTL       int       `json:"ttl,omitempty"`
	Updated   time.Time `json:"updated"`
}

// Metadata is the name of the file that has a member of its own in the
// document.
const Metadata = "metadata.json"

// Encode returns the document of t. The same head gives the same bytes.
func (t *Head) Encode() (segment.Document, error) {
	return t.encode(TypeHead, segment.HeadID(t.SID))
}

// EncodeBranch returns the document of a branch whose head is t.
func (t *Head) EncodeBranch() (segment.Document, error) {
	return t.encode(TypeBranch, segment.BranchID(t.SID, t.Transcript.Point()))
}

func (t *Head) encode(kind, id string) (segment.Document, error) {
	d := headDoc{
		ID: id, PK: segment.SessionPK(t.SID), Type: kind, V: segment.Version, Revision: t.Revision,
		User: t.User, Session: t.Session, Project: t.Project, Born: t.Born,
		Transcript: new(t.Transcript.filled(segment.Transcript)),
		Old:        t.Old, Branches: t.Branches, OldMore: t.OldMore, BranchMore: t.BranchMore,
		Op: t.Op, Writer: t.Writer, Redaction: t.Redaction, Anew: t.Anew, Deleted: t.Deleted, TTL: t.TTL, Updated: t.Updated.UTC(),
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
	return segment.Document{ID: d.ID, PK: d.PK, Type: kind, Body: body, To: t.Transcript.Point()}, nil
}

// Decode reads the document of a head or of a branch of session sid. Its error
// is [segment.ErrForeign], [segment.ErrFormat] or [segment.ErrDamaged].
func Decode(body []byte, sid string) (*Head, error) {
	var d headDoc
	err := json.Unmarshal(body, &d)
	kind := TypeHead
	if d.Type == TypeBranch {
		kind = TypeBranch
	}
	if probed := segment.Probe(body, kind); probed != nil {
		return nil, fmt.Errorf("decode head: %w", probed)
	}
	if err != nil {
		return nil, fmt.Errorf("decode head: %w: a member of the wrong type", segment.ErrDamaged)
	}
	if err := d.valid(sid); err != nil {
		return nil, fmt.Errorf("decode head: %w", err)
	}
	t := &Head{
		SID: sid, Revision: d.Revision, User: d.User, Session: d.Session, Project: d.Project, Born: d.Born,
		Transcript: *d.Transcript, Logs: d.Logs, Files: d.Files,
		Old: d.Old, Branches: d.Branches, OldMore: d.OldMore, BranchMore: d.BranchMore,
		Op: d.Op, Writer: d.Writer, Redaction: d.Redaction, Anew: d.Anew, Deleted: d.Deleted, TTL: d.TTL, Updated: d.Updated,
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

func (d *headDoc) valid(sid string) error {
	if d.Transcript == nil || d.PK != segment.SessionPK(sid) || d.Revision < 1 || d.TTL < 0 {
		return fmt.Errorf("%w: members missing", segment.ErrDamaged)
	}
	id := segment.HeadID(sid)
	if d.Type == TypeBranch {
		id = segment.BranchID(sid, d.Transcript.Point())
	}
	if d.ID != id {
		return fmt.Errorf("%w: id and content differ", segment.ErrDamaged)
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
