package cosmos

import (
	"context"
	"iter"
	"time"
)

// Conn makes the requests of one piece of work. Its methods may be called by
// several goroutines.
type Conn interface {
	// Get reads one document, nil when there is none. With the ETag of a known
	// version the body is only sent when it changed.
	Get(ctx context.Context, pk, id string, known ETag) (*Document, error)
	// Query yields the documents that q asks for, in its order.
	Query(ctx context.Context, q Query) iter.Seq2[[]byte, error]
	// Page returns a part of what Query yields, in one request: the part behind the
	// one that came with the continuation next, or the first. more is the
	// continuation of the part that follows; "": none does. The error Is
	// [ErrNoPage] when the continuation is not taken: ask for the first part.
	Page(ctx context.Context, q Query, next string) (rows [][]byte, more string, err error)
	// Batch makes all changes in one partition, or none. It takes
	// [MaxOps] operations and [MaxBytes] bytes at most.
	Batch(ctx context.Context, pk string, ops ...Op) Answer
	// Time returns the time of the newest answer by the service's clock, the zero
	// time when none has told it.
	Time() time.Time
	// Token returns the session token of the newest answer, "" when there is
	// none. Reads of this Conn see at least what that answer saw.
	Token() string
	// Usage returns what the work cost so far.
	Usage() Usage
}

// Document is a document as it was read.
type Document struct {
	Body []byte
	ETag ETag
	Same bool // it still has the ETag that was asked with; there is no Body then
}

// What one batch may hold. The service takes 100 operations and 2 MB.
const (
	MaxOps   = 100
	MaxBytes = 1800 << 10
)

// Op is a change of one document: what [Put], [Swap] or [Delete] returns.
type Op struct {
	Kind Kind
	ID   string // "" for Put: the body has it
	Body []byte // nil for Delete
	ETag ETag   // that the document must have; "": any
}

// Kind is what an operation does.
type Kind uint8

// The kinds of operations.
const (
	Upsert  Kind = iota // store, whatever is there
	Create              // store where nothing is
	Replace             // store in the place of a version
	Remove
)

// Put stores a document whose id tells its content, whatever is there.
func Put(body []byte) Op { return Op{Kind: Upsert, Body: body} }

// Swap replaces a document if it still has the ETag. With the ETag "" it creates
// the document if there is none.
func Swap(id string, body []byte, etag ETag) Op {
	if etag == "" {
		return Op{Kind: Create, ID: id, Body: body}
	}
	return Op{Kind: Replace, ID: id, Body: body, ETag: etag}
}

// Delete removes a document if it still has the ETag; "" is any.
func Delete(id string, etag ETag) Op { return Op{Kind: Remove, ID: id, ETag: etag} }

// conditional reports whether a second try of the operations could fail because
// the first one was done.
func conditional(ops []Op) bool {
	for _, op := range ops {
		if op.Kind == Create || op.Kind == Replace {
			return true
		}
	}
	return false
}

// Usage is what a piece of work cost.
type Usage struct {
	Requests, Documents int   // made, stored
	Bytes               int64 // of the documents stored
	Units               float64
}

// Request is one request and its answer.
type Request struct {
	Start  time.Time
	Status int // of HTTP; 0: there was no answer
	Units  float64
	Err    error
}
