package cosmos

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// Class is what an answer means for what comes next; see the package's doc.
type Class int

// The classes of answers.
const (
	OK Class = iota
	Missing
	Exists
	Changed
	TooLarge
	Throttled
	Unknown
	Abandoned
	Denied
	Unauthorized
	Full
	Refused
)

// ETag is a version of a document.
type ETag = azcore.ETag

// Answer is what the service answered, or what it means that it did not.
type Answer struct {
	Class  Class
	Err    error  // nil for OK
	ETags  []ETag // of the documents of a batch, in the order of its operations
	Failed int    // the operation of a batch that failed by itself; -1: none, or all

	status int
	sub    string        // the service's sub-status
	wait   time.Duration // what the service asks for; 0: nothing
	silent bool          // the service did not answer
	stale  bool          // on a connection that had served before, and may have ended meanwhile
	began  time.Time     // when the request was made
}

// behind reports whether no replica is known that has what the session token asks for.
func (a *Answer) behind() bool { return a.status == http.StatusNotFound && a.sub == notYet }

// ETag returns that of the operation i; "" when the answer has none.
func (a *Answer) ETag(i int) ETag {
	if i < 0 || i >= len(a.ETags) {
		return ""
	}
	return a.ETags[i]
}

// statusError is an error answer, without the body, which may quote what was
// sent.
type statusError struct {
	status int
	code   string
}

func (e *statusError) Error() string {
	if e.code == "" {
		return fmt.Sprintf("status %d", e.status)
	}
	return fmt.Sprintf("status %d (%s)", e.status, strings.TrimPrefix(e.code, fmt.Sprint(e.status, " ")))
}

// batchError is what the operations of a batch say, where the service answered the
// batch as a whole.
type batchError struct{ answer Answer }

func (e *batchError) Error() string { return fmt.Sprint(e.answer.Err) }

const (
	headerWait = "x-ms-retry-after-ms"
	headerSub  = "x-ms-substatus"
	noOwner    = "1003" // 404: not the document is missing but its container
	notYet     = "1002" // 404: the replica that was asked is behind the session token
	full       = "1014" // 403: the partition holds all that it can
	noWrites   = "3"    // 403: the region takes no writes just now, as while the account fails over
	noAccount  = "1008" // 403: the replica that was asked does not know the account
	expired    = "5006" // 401: the token has expired
	revoked    = "5013" // 401: the token was revoked
	noToken    = "5300" // 403: the token does not allow the request
)

// unauthorized are the sub-statuses by which the service says that the identity of
// a token has no right to a request: the service gives them also until a new role
// assignment has reached it, and until there is a new token.
var unauthorized = map[int][]string{
	http.StatusUnauthorized: {expired, revoked},
	http.StatusForbidden:    {noToken, "5301", "5302", "5303", "5304", "5400"},
}

// maxSkew is how far a clock may be off before it is what explains a 401; the
// service accepts 15 minutes.
const maxSkew = 10 * time.Minute

// classify tells what err, the outcome of one request for which the caller still
// waits, means.
func classify(err error, now time.Time) Answer {
	if err == nil {
		return Answer{Failed: -1}
	}
	if b := (*batchError)(nil); errors.As(err, &b) {
		return b.answer
	}
	e := (*azcore.ResponseError)(nil)
	if !errors.As(err, &e) {
		a := Answer{Class: Unknown, Failed: -1, Err: fmt.Errorf("%w: %w", ErrUnreachable, err), silent: true}
		if other := (*elsewhereError)(nil); errors.As(err, &other) {
			a.status = other.status
		}
		return a
	}
	a := Answer{Class: classOf(e.StatusCode), Failed: -1, Err: &statusError{e.StatusCode, e.ErrorCode}, status: e.StatusCode}
	header := http.Header{}
	if e.RawResponse != nil {
		header = e.RawResponse.Header
	}
	a.sub = header.Get(headerSub)
	if ms, err := strconv.ParseFloat(header.Get(headerWait), 64); err == nil && ms > 0 {
		a.wait = time.Duration(ms * float64(time.Millisecond))
	}
	a.explain(header, now)
	return a
}

// answered returns the answer of a request, nil when there was none.
func answered(answer *http.Response, err error) *http.Response {
	if e := (*azcore.ResponseError)(nil); errors.As(err, &e) {
		return e.RawResponse
	}
	return answer
}

// requireService makes an answer one that tells nothing when it is not from the
// service: clients that [Open] did not make let it through.
func (a *Answer) requireService(answer *http.Response) {
	if answer == nil {
		return
	}
	if err := checkService(answer); err != nil {
		*a = Answer{Class: Unknown, Failed: -1, Err: fmt.Errorf("%w: %w", ErrUnreachable, err), status: answer.StatusCode, silent: true}
	}
}

func classOf(status int) Class {
	switch {
	case status < 300:
		return OK
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return Denied
	case status == http.StatusNotFound:
		return Missing
	case status == http.StatusConflict:
		return Exists
	case status == http.StatusPreconditionFailed:
		return Changed
	case status == http.StatusRequestEntityTooLarge:
		return TooLarge
	case status == http.StatusTooManyRequests:
		return Throttled
	case status == http.StatusRequestTimeout, status == http.StatusGone, status == 449, status >= 500:
		return Unknown
	}
	return Refused
}

// explain gives the error the sentinel that callers look for, and the class that
// the sub-status tells.
func (a *Answer) explain(header http.Header, now time.Time) {
	switch {
	case a.Class == Denied && a.sub == full:
		a.Class, a.Err = Full, fmt.Errorf("%w: %w", ErrFull, a.Err)
	case a.Class == Denied && slices.Contains(unauthorized[a.status], a.sub):
		a.Class, a.Err = Unauthorized, fmt.Errorf("%w: %w", ErrUnauthorized, a.Err)
	case a.Class == Denied && (a.sub == noWrites || a.sub == noAccount):
		a.Class, a.Err = Unknown, fmt.Errorf("%w: %w", ErrUnreachable, a.Err)
	case a.Class == Denied:
		if skew, wrong := skewed(header, now); wrong {
			a.Err = fmt.Errorf("%w: %w by %v: %w", ErrBlocked, ErrClock, skew, a.Err)
			return
		}
		a.Err = fmt.Errorf("%w: %w", ErrBlocked, a.Err)
	case a.Class == Missing && a.sub == noOwner:
		a.noContainer()
	case a.Class == Refused:
		a.Err = fmt.Errorf("%w: the request is refused; is the container's partition key /pk: %w", ErrBlocked, a.Err)
	case a.Class == Missing && a.sub == notYet:
		a.Class = Unknown
		a.Err = fmt.Errorf("%w: %w", ErrUnreachable, a.Err)
	case a.Class == Unknown, a.Class == Throttled:
		a.Err = fmt.Errorf("%w: %w", ErrUnreachable, a.Err)
	}
}

// noContainer makes of an answer that something is missing one that the
// container is.
func (a *Answer) noContainer() {
	a.Class = Denied
	a.Err = fmt.Errorf("%w: there is no such database or container: %w", ErrBlocked, a.Err)
}

// skewed compares the clock with the answer's date.
func skewed(header http.Header, now time.Time) (time.Duration, bool) {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return 0, false
	}
	skew := now.Sub(date).Round(time.Minute)
	return skew, skew.Abs() > maxSkew
}

// unitsOf returns what an answer cost, which may be nil.
func unitsOf(answer *http.Response) (units float64) {
	if answer != nil {
		_, _ = fmt.Sscan(answer.Header.Get("x-ms-request-charge"), &units) // without one it is nothing
	}
	return units
}
