package cosmos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// document is the form in which the container holds an object: the label as it is, and the
// body as text where that keeps it and is no longer, and else in base64.
type document struct {
	ID    string          `json:"id"`
	PK    string          `json:"pk,omitempty"`
	Label json.RawMessage `json:"label,omitempty"`
	Text  *string         `json:"text,omitempty"`
	Data  []byte          `json:"data,omitempty"`

	ETag remote.Version `json:"_etag,omitempty"`
	TS   int64          `json:"_ts,omitempty"` // in seconds since 1970

	Type string `json:"type,omitempty"` // of a document of a former format, which has no label
	V    int    `json:"v,omitempty"`
}

// encode returns the document of an object.
func encode(part string, o *remote.Object) ([]byte, error) {
	d := document{ID: o.Name, PK: part, Label: o.Label}
	if text := string(o.Body); utf8.ValidString(text) && bytes.IndexByte(o.Body, 0) < 0 {
		if len(text) > 0 {
			d.Text = &text
		}
	} else {
		d.Data = o.Body
	}
	doc, err := marshal(&d)
	if room := o.Size() + len(o.Name) + len(part) + members; d.Text != nil && err == nil && len(doc) > room { // much is escaped
		d.Text, d.Data = nil, o.Body
		doc, err = marshal(&d)
	}
	if err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	return doc, nil
}

// members is how many bytes the names of a document's members take, at most.
const members = 100

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// decode returns the object of a document, or of the row of a list. A document of another tool
// has no label.
func decode(body []byte, name string, etag azcore.ETag) remote.Object {
	var d document
	if json.Unmarshal(body, &d) != nil {
		return remote.Object{Name: name, Version: remote.Version(etag)}
	}
	o := remote.Object{Name: d.ID, Label: d.Label, Body: d.Data, Version: remote.Version(etag), Time: time.Unix(d.TS, 0).UTC()}
	if etag == "" { // as with some servers
		o.Version = d.ETag
	}
	if d.Text != nil {
		o.Body = []byte(*d.Text)
	}
	if d.Label == nil && d.V > 0 {
		o.Label = fmt.Appendf(nil, `{"type":%q,"v":%d}`, d.Type, d.V)
	}
	return o
}

func partition(pk string) azcosmos.PartitionKey { return azcosmos.NewPartitionKeyString(pk) }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
