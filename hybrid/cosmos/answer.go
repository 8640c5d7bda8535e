package cosmos

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// reply is the answer of the service, or the meaning of its absence.
type reply struct {
	Err    error         // see the package's doc; nil: it was done
	ETags  []azcore.ETag // of the documents of a batch, in the order of its operations
	Failed int           // the operation of a batch that failed by itself; -1: none, or all

	status int
	sub    string // the service's sub-status
	silent bool   // the service did not answer
}

// missing reports whether the requested document does not exist.
func (a *reply) missing() bool { return errors.Is(a.Err, remote.ErrNotExist) }

// behind reports whether no replica is known to have the state of the session token.
func (a *reply) behind() bool { return a.status == http.StatusNotFound && a.sub == notYet }

// version returns the version of the operation i; "" when the answer has none.
func (a *reply) version(i int) azcore.ETag {
	if i < 0 || i >= len(a.ETags) {
		return ""
	}
	return a.ETags[i]
}

// statusError is an error answer, without the body, which may quote the request.
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

// batchError is the results of the operations of a batch, where the service answered the
// batch as a whole.
type batchError struct{ answer reply }

func (e *batchError) Error() string { return fmt.Sprint(e.answer.Err) }

const (
	headerWait = "x-ms-retry-after-ms"
	headerSub  = "x-ms-substatus"
	noOwner    = "1003" // 404: the container is missing, not the document
	notYet     = "1002" // 404: the replica that was asked is behind the session token
	full       = "1014" // 403: the partition holds all that it can
	noWrites   = "3"    // 403: the region takes no writes just now, as while the account fails over
	noAccount  = "1008" // 403: the replica that was asked does not know the account
	expired    = "5006" // 401: the token has expired
	revoked    = "5013" // 401: the token was revoked
	noToken    = "5300" // 403: the token does not allow the request
)

// unauthorized are the sub-statuses by which the service says that the identity of a
// token has no right to a request: the service returns them also until a new role
// assignment has reached it, and until there is a new token.
var unauthorized = map[int][]string{
	http.StatusUnauthorized: {expired, revoked},
	http.StatusForbidden:    {noToken, "5301", "5302", "5303", "5304", "5400"},
}

// maxSkew is the greatest error of the clock that does not yet explain a 401; the service
// accepts 15 minutes.
const maxSkew = 10 * time.Minute

// classify returns the meaning of err, the outcome of one request whose caller still
// waits.
func classify(err error, now time.Time) reply {
	if err == nil {
		return reply{Failed: -1}
	}
	if b := (*batchError)(nil); errors.As(err, &b) {
		return b.answer
	}
	e := (*azcore.ResponseError)(nil)
	if !errors.As(err, &e) {
		return noAnswer(err)
	}
	header := http.Header{}
	if e.RawResponse != nil {
		header = e.RawResponse.Header
	}
	a := reply{Failed: -1, status: e.StatusCode, sub: header.Get(headerSub)}
	a.explain(&statusError{e.StatusCode, e.ErrorCode}, header, now)
	return a
}

// noAnswer returns the meaning of a request without an answer from the service. Other
// requests fail at present, too, where nothing took the connection, or something else
// answers there.
func noAnswer(err error) reply {
	trouble := &remote.Unreachable{Err: err}
	a := reply{Failed: -1, Err: trouble, silent: true}
	other, proxy := (*elsewhereError)(nil), (*net.OpError)(nil)
	if errors.As(err, &other) {
		a.status = other.status
	}
	if other != nil || undialed(err) || errors.As(err, &proxy) && proxy.Op == "proxyconnect" {
		trouble.Kind = remote.Away
	}
	return a
}

func undialed(err error) bool {
	e := (*net.OpError)(nil)
	return errors.As(err, &e) && e.Op == "dial"
}

// answered returns the answer of a request, nil when there was none.
func answered(answer *http.Response, err error) *http.Response {
	if e := (*azcore.ResponseError)(nil); errors.As(err, &e) {
		return e.RawResponse
	}
	return answer
}

// requireService replaces an answer that is not from the service, and so is meaningless,
// by an error: clients that [Connect] did not make let such an answer through.
func (a *reply) requireService(answer *http.Response) {
	if answer == nil {
		return
	}
	if err := checkService(answer); err != nil {
		*a = noAnswer(err)
	}
}

var errNoContainer = fmt.Errorf("%w: there is no such database or container", remote.ErrBlocked)

// explain finds the error for an answer by its status and sub-status.
func (a *reply) explain(why error, header http.Header, now time.Time) {
	var is error
	switch status, forbidden := a.status, a.status == http.StatusForbidden; {
	case status == http.StatusNotFound && a.sub == noOwner:
		is = errNoContainer
	case status == http.StatusNotFound && a.sub != notYet:
		is = remote.ErrNotExist
	case status == http.StatusConflict, status == http.StatusPreconditionFailed:
		is = remote.ErrChanged
	case status == http.StatusRequestEntityTooLarge:
		is = remote.ErrTooLarge
	case forbidden && a.sub == full:
		is = remote.ErrFull
	case slices.Contains(unauthorized[status], a.sub):
		is = remote.ErrUnauthorized
	case status == http.StatusUnauthorized, forbidden && a.sub != noWrites && a.sub != noAccount:
		is = remote.ErrBlocked
		if skew, wrong := skewed(header, now); wrong {
			is = fmt.Errorf("%w: %w by %v", remote.ErrBlocked, remote.ErrClock, skew)
		}
	case slices.Contains([]int{403, 404, 408, 410, 429, 449}, status), status >= 500:
		trouble := &remote.Unreachable{Err: why}
		if status == http.StatusTooManyRequests {
			trouble.Kind = remote.Throttled
		}
		if ms, err := strconv.ParseFloat(header.Get(headerWait), 64); err == nil && ms > 0 {
			trouble.After = time.Duration(ms * float64(time.Millisecond))
		}
		a.Err = trouble
		return
	default:
		is = fmt.Errorf("%w; is the container's partition key /pk", remote.ErrRefused)
	}
	a.Err = fmt.Errorf("%w: %w", is, why)
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

// unitsOf returns the cost of an answer, which may be nil.
func unitsOf(answer *http.Response) (units float64) {
	if answer != nil {
		_, _ = fmt.Sscan(answer.Header.Get("x-ms-request-charge"), &units) // without one it is nothing
	}
	return units
}
