package cosmostest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// An answer is an answer of the server, or the result of one operation of a batch.
type answer struct {
	status  int
	sub     int
	header  http.Header
	body    []byte
	charge  float64
	etag    string // of the document that was read or written
	written []written
	rows    int // of a page
}

// written is a document that an answer's request changed.
type written struct {
	kind   string // the member "type" of its label, or its own
	charge float64
}

func (a *answer) set(name, value string) *answer {
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Set(name, value)
	return a
}

// retry lets the client wait before it asks again.
func (a *answer) retry(after time.Duration) *answer {
	if after > 0 {
		a.set("x-ms-retry-after-ms", strconv.FormatInt(after.Milliseconds(), 10))
	}
	return a
}

// failed reports whether the answer is a refusal.
func (a *answer) failed() bool { return a.status >= http.StatusBadRequest }

// fail makes a refusal. The message holds no content of documents.
func fail(status int, format string, args ...any) *answer {
	code := strings.ReplaceAll(http.StatusText(status), " ", "")
	if status == 449 {
		code = "RetryWith"
	}
	return &answer{status: status, body: fmt.Appendf(nil, `{"code":%s,"message":%s}`, quoted(code), quoted(fmt.Sprintf(format, args...)))}
}

func failSub(status, sub int, format string, args ...any) *answer {
	a := fail(status, format, args...)
	if a.sub = sub; sub != 0 {
		a.set("x-ms-substatus", strconv.Itoa(sub))
	}
	return a
}

// refuse is a refusal that cost as much as a look.
func refuse(status int, message string) *answer {
	a := fail(status, "%s", message)
	a.charge = refusedCharge
	return a
}

// Substatus codes, as azure-cosmos-dotnet-v3 names them.
const (
	subPartitionKeyMismatch    = 1001
	subReadSessionNotAvailable = 1002
	subCompletingSplit         = 1007
	subPartitionFull           = 1014
	subTokenExpired            = 5006
	subTokenRevoked            = 5013
	subRBAC                    = 5300
	subNoMetadataRole          = 5301
	subNoDataRole              = 5302
)
