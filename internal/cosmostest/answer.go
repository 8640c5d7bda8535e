package cosmostest

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

// An answer is what the server sends.
type answer struct {
	status  int
	sub     int
	header  http.Header
	body    []byte
	charge  float64
	written []written
	read    int
}

// written is a document that an answer's request changed.
type written struct {
	kind   string // its member "type"
	charge float64
}

func (a *answer) set(name, value string) *answer {
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Set(name, value)
	return a
}

// A failure is an answer with an error. It is also what functions of the
// store return, so that batches can tell it for each operation.
type failure struct {
	status     int
	sub        int
	message    string
	challenge  string // what the header WWW-Authenticate says
	retryAfter time.Duration
	charge     float64
}

func (f *failure) Error() string { return f.message }

// fail makes a failure. The message holds no content of documents.
func fail(status int, format string, a ...any) *failure {
	return &failure{status: status, message: fmt.Sprintf(format, a...)}
}

func failSub(status, sub int, format string, a ...any) *failure {
	f := fail(status, format, a...)
	f.sub = sub
	return f
}

// Substatus codes, as azure-cosmos-dotnet-v3 names them.
const (
	subPartitionKeyMismatch    = 1001
	subReadSessionNotAvailable = 1002
	subPartitionFull           = 1014
	subCompletingSplit         = 1007
	subRequestRateTooLarge     = 3200
	subTokenExpired            = 5006
	subTokenRevoked            = 5013
	subRBAC                    = 5300
	subNoMetadataRole          = 5301
	subNoDataRole              = 5302
)

// codes are the words that the service puts beside a status.
var codes = map[int]string{
	http.StatusBadRequest:            "BadRequest",
	http.StatusUnauthorized:          "Unauthorized",
	http.StatusForbidden:             "Forbidden",
	http.StatusNotFound:              "NotFound",
	http.StatusMethodNotAllowed:      "MethodNotAllowed",
	http.StatusRequestTimeout:        "RequestTimeout",
	http.StatusConflict:              "Conflict",
	http.StatusGone:                  "Gone",
	http.StatusPreconditionFailed:    "PreconditionFailed",
	http.StatusRequestEntityTooLarge: "RequestEntityTooLarge",
	http.StatusTooManyRequests:       "TooManyRequests",
	449:                              "RetryWith",
	http.StatusInternalServerError:   "InternalServerError",
	http.StatusServiceUnavailable:    "ServiceUnavailable",
}

// answer puts a failure into the form that clients read.
func (f *failure) answer() *answer {
	code := codes[f.status]
	if code == "" {
		code = http.StatusText(f.status)
	}
	a := &answer{status: f.status, sub: f.sub, charge: f.charge}
	a.body = jsondoc.Append(nil, jsondoc.NewObject(
		jsondoc.Member{Name: "code", Value: code}, jsondoc.Member{Name: "message", Value: f.message}))
	if f.challenge != "" {
		a.set("WWW-Authenticate", f.challenge)
	}
	if f.retryAfter > 0 {
		a.set("x-ms-retry-after-ms", strconv.FormatInt(f.retryAfter.Milliseconds(), 10))
	}
	return a
}

// finish sets the headers that every answer has.
func (a *answer) finish(c *call) {
	a.set("Content-Type", "application/json").
		set("x-ms-request-charge", strconv.FormatFloat(a.charge, 'f', 2, 64)).
		set("x-ms-gatewayversion", "version=2.14.0").
		set("Content-Length", strconv.Itoa(len(a.body)))
	if c == nil {
		return
	}
	a.set("Date", c.At.UTC().Format(http.TimeFormat))
	if id := c.header.Get("x-ms-activity-id"); id != "" {
		a.set("x-ms-activity-id", id)
	}
	if a.sub != 0 {
		a.set("x-ms-substatus", strconv.Itoa(a.sub))
	}
}

func resourceAnswer(status int, o *jsondoc.Object) *answer {
	a := &answer{status: status, charge: controlCharge, body: jsondoc.Append(nil, o)}
	return a.set("etag", o.String("_etag"))
}
