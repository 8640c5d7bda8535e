package cosmos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	azruntime "github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Get implements [remote.Remote].
func (c *Remote) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	var o remote.Object
	same := false
	a := c.read(ctx, part, func(ctx context.Context) (azcosmos.Response, string, error) {
		if known != "" {
			ctx = policy.WithHTTPHeader(ctx, http.Header{"If-None-Match": []string{string(known)}})
		}
		r, err := c.container.ReadItem(ctx, partition(part), name, &azcosmos.ItemOptions{SessionToken: c.sessionToken(part)})
		if same = err == nil && r.RawResponse != nil && r.RawResponse.StatusCode == http.StatusNotModified; !same && err == nil {
			o = decode(r.Value, name, r.ETag)
			err = remote.TooLarge(int64(len(o.Label)), int64(len(o.Body)))
		}
		return r.Response, text(r.SessionToken), err
	})
	if a.missing() && known != "" && c.sessionToken(part) == nil {
		if now, b := c.getNewest(ctx, part, name); !errors.Is(b.Err, remote.ErrRefused) { // as by an emulator
			o, a, same = now, b, now.Version == known
		}
	}
	if a.Err == nil && same {
		return o, remote.ErrUnchanged
	}
	return o, a.Err
}

// getNewest reads an object that was there once, when no session token is known, as after
// a start of the program: a replica that is behind may lack it. A batch is answered by
// the replica that takes the writes.
func (c *Remote) getNewest(ctx context.Context, part, name string) (o remote.Object, a reply) {
	batch := c.container.NewTransactionalBatch(partition(part))
	batch.ReadItem(name, nil)
	a = c.read(ctx, part, func(ctx context.Context) (azcosmos.Response, string, error) {
		r, err := c.container.ExecuteTransactionalBatch(ctx, batch, nil)
		if err == nil {
			err = &batchError{results(r)}
			if len(r.OperationResults) == 1 {
				o = decode(r.OperationResults[0].ResourceBody, name, r.OperationResults[0].ETag)
			}
		}
		return r.Response, r.SessionToken, err
	})
	return o, a
}

// pageSize is the largest number of rows of a page. The service ends a page earlier, at 4
// MB.
const pageSize = 1000

// List implements [remote.Remote].
func (c *Remote) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		for next, more := "", true; more; more = next != "" {
			var rows [][]byte
			var err error
			if rows, next, err = c.page(ctx, part, &q, next); err != nil {
				yield(remote.Object{}, err)
				return
			}
			for _, row := range rows {
				o := decode(row, "", "") // without a name where it is of another tool
				if len(o.Label) > remote.MaxLabel {
					o.Label = nil
				}
				if o.Name != "" && strings.HasPrefix(o.Name, q.Prefix) && !yield(o, nil) {
					return
				}
			}
		}
	}
}

// page returns the page of a list that next names, and the name of the following page.
func (c *Remote) page(ctx context.Context, part string, q *remote.Query, next string) (rows [][]byte, more string, err error) {
	after := (*string)(nil)
	if next != "" {
		after = &next
	}
	a := c.read(ctx, part, func(ctx context.Context) (azcosmos.Response, string, error) {
		query, parameters := textOf(part, q)
		pager := c.container.NewQueryItemsPager(query, partition(part), &azcosmos.QueryOptions{
			QueryParameters: parameters, PageSizeHint: pageSize, ContinuationToken: after, SessionToken: c.sessionToken(part),
		})
		page, err := pager.NextPage(ctx)
		rows, more = page.Items, text(page.ContinuationToken)
		return page.Response, "", err
	})
	return rows, more, a.Err
}

// textOf returns a query in the service's language, and its parameters. The partition and the
// order are always in it: without them some servers return rows of others, or in no order. All
// values are parameters: some servers do not know 'text'. The service indexes /id and /_ts by
// itself.
func textOf(part string, q *remote.Query) (text string, all []azcosmos.QueryParameter) {
	text = "SELECT c.id, c.label, c.type, c.v, c._etag, c._ts FROM c WHERE c.pk = @pk AND c.id > @after"
	all = []azcosmos.QueryParameter{{Name: "@pk", Value: part}, {Name: "@after", Value: max(q.After, before(q.Prefix))}}
	if q.Prefix != "" {
		text += " AND c.id < @end"
		all = append(all, azcosmos.QueryParameter{Name: "@end", Value: q.Prefix + "~"})
	}
	if !q.Since.IsZero() {
		text += " AND c._ts >= @since"
		all = append(all, azcosmos.QueryParameter{Name: "@since", Value: q.Since.Unix()})
	}
	return text + " ORDER BY c.id", all
}

// before returns a text that is behind each name less than a prefix, and before the
// prefix itself: no name has a '~'.
func before(prefix string) string {
	if prefix == "" {
		return ""
	}
	last := len(prefix) - 1
	return prefix[:last] + string(prefix[last]-1) + "~"
}

// document is the form in which the container holds an object: the label as it is, and
// the body as text where that keeps it and is no longer, and else in base64.
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

// members is the largest number of bytes that the names of a document's members take.
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

// wire is the transport of the clients that [Connect] makes. It makes each request once:
// an outcome that the SDK, whose policies cannot be left out, or net/http would repeat is
// returned as an [unrepeated]. But it lets the SDK go to another region, once for a call,
// where one refuses a request or takes no connection. It reports to the [trip] of a
// request each block that moves and each request that is made, and rejects every answer
// that is not from the service.
type wire struct{ next policy.Transporter }

// newWire returns a wire over the caller's transport, which may be nil. The SDK's own
// transport ends a transfer after 65 s, however it proceeds.
func newWire(next policy.Transporter) *wire {
	if next == nil {
		transport := http.DefaultTransport
		if t, ok := transport.(*http.Transport); ok {
			t = t.Clone()
			t.MaxIdleConnsPerHost = t.MaxIdleConns // all go to one host
			transport = t
		}
		next = &http.Client{Transport: transport}
	}
	return &wire{next}
}

// Do makes a request.
func (w *wire) Do(r *http.Request) (*http.Response, error) {
	t := tripOf(r.Context())
	data := t
	if isAccount(r) {
		data = nil // the SDK may make it beside the trip
	}
	var used atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { used.Store(c.Reused) }}
	out := r.WithContext(httptrace.WithClientTrace(r.Context(), trace))
	if out.Body == nil {
		out.Body = http.NoBody
	}
	out.Body = &moving{out.Body, data.moved, math.MaxInt64 - 1} // also where there is none: net/http repeats a request without a body
	start := time.Now()
	data.moved()
	answer, err := w.next.Do(out)
	t.made(r, start, answer)
	if err != nil && undialed(err) && data.goesOn() {
		refusal := jsonAnswer(r, nil) // with which the SDK goes on as after a refusal of a region
		refusal.StatusCode, refusal.Header = http.StatusForbidden, http.Header{http.CanonicalHeaderKey(headerSub): {noAccount}}
		return refusal, nil
	}
	if err != nil {
		return nil, &unrepeated{err, used.Load()}
	}
	if err := checkService(answer); err != nil {
		return nil, errors.Join(err, answer.Body.Close())
	}
	t.heard()
	answer.Body = &moving{answer.Body, data.heard, maxAnswer}
	if repeated(answer) && !(answer.StatusCode == http.StatusForbidden && data.goesOn()) {
		_, err := io.Copy(io.Discard, answer.Body) // so that the connection can be used again
		if err := errors.Join(err, answer.Body.Close()); err != nil {
			return nil, err
		}
		return nil, &unrepeated{outcome: azruntime.NewResponseErrorWithErrorCode(answer, answer.Status)}
	}
	return answer, nil
}

// repeated reports whether the SDK makes a request again for its answer.
func repeated(answer *http.Response) bool {
	switch sub := answer.Header.Get(headerSub); answer.StatusCode {
	case http.StatusForbidden:
		return sub == noWrites || sub == noAccount
	case http.StatusNotFound:
		return sub == notYet
	}
	return slices.Contains([]int{408, 500, 502, 503, 504}, answer.StatusCode)
}

// unrepeated is an outcome whose kind is hidden from the SDK.
type unrepeated struct {
	outcome error
	stale   bool // there was no answer on a connection that had served before
}

func (u *unrepeated) Error() string {
	if e := (*azcore.ResponseError)(nil); errors.As(u.outcome, &e) {
		return fmt.Sprint("status ", e.StatusCode) // its own text is the answer's
	}
	return u.outcome.Error()
}

// NonRetriable makes the SDK make the request once.
func (*unrepeated) NonRetriable() {}

// outcome returns the outcome that an error of the SDK's client hides.
func outcome(err error) (_ error, stale bool) {
	if u := (*unrepeated)(nil); errors.As(err, &u) {
		return u.outcome, u.stale
	}
	return err, false
}

// maxAnswer is the largest number of bytes of an answer. The service sends pages of 4 MB.
const maxAnswer = remote.MaxObject

// moving is the body of a request or answer. It tells of each block that moves, and ends with
// [remote.ErrTooLarge] when it has no room for more.
type moving struct {
	io.ReadCloser
	tell func()
	room int64
}

func (m *moving) Read(p []byte) (int, error) {
	if m.room < 0 {
		return 0, &unrepeated{outcome: fmt.Errorf("%w: an answer has more than %d bytes", remote.ErrTooLarge, maxAnswer)}
	}
	n, err := m.ReadCloser.Read(p[:min(int64(len(p)), m.room+1)])
	m.tell()
	m.room -= int64(n)
	if err != nil && err != io.EOF {
		err = &unrepeated{outcome: err}
	}
	return n, err
}

// jsonAnswer returns an answer that no server gave.
func jsonAnswer(to *http.Request, body []byte) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)), Request: to,
	}
}
