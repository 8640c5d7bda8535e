package cosmostest

import (
	"net/http"
	"time"
)

// An Op is what a request does.
type Op string

// The operations. OpControl is every other one on databases and containers.
const (
	OpAccount Op = "account"
	OpControl Op = "control"
	OpCreate  Op = "create"
	OpUpsert  Op = "upsert"
	OpReplace Op = "replace"
	OpDelete  Op = "delete"
	OpRead    Op = "read"
	OpQuery   Op = "query"
	OpBatch   Op = "batch"
)

// Writes reports whether the operation may change documents.
func (op Op) Writes() bool {
	switch op {
	case OpCreate, OpUpsert, OpReplace, OpDelete, OpBatch:
		return true
	}
	return false
}

// Data reports whether the operation is on documents.
func (op Op) Data() bool {
	return op.Writes() || op == OpRead || op == OpQuery
}

// A Request tells what a client asks.
type Request struct {
	N         int // from 1, in the order of arrival
	Op        Op
	Method    string
	Database  string
	Container string
	Partition string // the partition key, a JSON array like ["s-abc"]; "" when none is given
	ID        string // of the document; "" for queries and batches
	Body      []byte // not to be changed
	At        time.Time
}

// A Record tells what became of a request.
type Record struct {
	Request
	Status    int // 0: no answer was sent
	SubStatus int
	Charge    float64 // request units
	Written   int     // documents that were created, changed or deleted
	Read      int     // documents or rows that were returned
	Received  int     // bytes of the request's body
	Sent      int     // bytes of the answer's body
	Fault     Fault
}

// A resource is what the last part of a link is.
type resource string

const (
	account   resource = ""
	databases resource = "dbs"
	colls     resource = "colls"
	docs      resource = "docs"
)

// A call is a request with all that the server needs to judge it.
type call struct {
	Request
	kind   resource
	feed   bool   // the link is of a list, not of one resource
	link   string // what is signed: the resource, or the owner of the list
	base   string // scheme and host that the client used
	header http.Header
	query  bool
	fault  Fault
}
