package hybrid

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// class is what an answer means for what comes next.
type class int

const (
	fine      class = iota
	missing         // 404
	exists          // 409: it was there before
	changed         // 412: somebody else was first
	tooBig          // 413
	throttled       // 429: not done, and not to be asked again before a time
	shaky           // nobody knows whether it was done
	abandoned       // nor this, but it was the caller who stopped waiting
	denied          // 401, 403: nothing will be done until somebody acts
	refused         // the request is wrong, which asking again does not change
)

// verdict is what one answer, or none, means.
type verdict struct {
	class  class
	status int
	sub    string        // the service's sub-status
	wait   time.Duration // what the service asks for; 0: nothing
	err    error
}

// refusal is an error answer, without the body, which may quote what was sent.
type refusal struct {
	status int
	code   string
}

func (e *refusal) Error() string {
	if e.code == "" {
		return fmt.Sprintf("status %d", e.status)
	}
	return fmt.Sprintf("status %d (%s)", e.status, e.code)
}

const (
	headerWait = "x-ms-retry-after-ms"
	headerSub  = "x-ms-substatus"
	noOwner    = "1003" // 404: not the document is missing but its container
	notYet     = "1002" // 404: the replica that was asked is behind the session token
)

// maxSkew is how far a clock may be off before it is what explains a 401; the
// service accepts 15 minutes.
const maxSkew = 10 * time.Minute

// judge tells what err, the outcome of one request for which the caller still
// waits, means.
func judge(err error, now time.Time) verdict {
	if err == nil {
		return verdict{}
	}
	e := (*azcore.ResponseError)(nil)
	if !errors.As(err, &e) {
		return verdict{class: shaky, err: fmt.Errorf("%w: %w", ErrUnreachable, err)}
	}
	v := verdict{status: e.StatusCode, class: classOf(e.StatusCode), err: &refusal{e.StatusCode, e.ErrorCode}}
	header := http.Header{}
	if e.RawResponse != nil {
		header = e.RawResponse.Header
	}
	v.sub = header.Get(headerSub)
	if ms, err := strconv.ParseFloat(header.Get(headerWait), 64); err == nil && ms > 0 {
		v.wait = time.Duration(ms * float64(time.Millisecond))
	}
	v.explain(header, now)
	return v
}

func classOf(status int) class {
	switch {
	case status < 300:
		return fine
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return denied
	case status == http.StatusNotFound:
		return missing
	case status == http.StatusConflict:
		return exists
	case status == http.StatusPreconditionFailed:
		return changed
	case status == http.StatusRequestEntityTooLarge:
		return tooBig
	case status == http.StatusTooManyRequests:
		return throttled
	case status == http.StatusRequestTimeout, status == http.StatusGone, status == 449, status >= 500:
		return shaky
	}
	return refused
}

// explain gives the error the sentinel that callers look for.
func (v *verdict) explain(header http.Header, now time.Time) {
	switch {
	case v.class == denied:
		if skew, wrong := skewed(header, now); wrong {
			v.err = fmt.Errorf("%w: %w by %v: %w", ErrBlocked, ErrClock, skew, v.err)
			return
		}
		v.err = fmt.Errorf("%w: %w", ErrBlocked, v.err)
	case v.class == missing && v.sub == noOwner:
		v.class = denied
		v.err = noSuchContainer(*v)
	case v.class == refused:
		v.err = fmt.Errorf("%w: the request is refused; is the container's partition key /pk: %w", ErrBlocked, v.err)
	case v.class == missing && v.sub == notYet:
		v.class = shaky
		v.err = fmt.Errorf("%w: %w", ErrUnreachable, v.err)
	case v.class == shaky, v.class == throttled:
		v.err = fmt.Errorf("%w: %w", ErrUnreachable, v.err)
	}
}

// noSuchContainer is what a document means that cannot be created because
// something is missing.
func noSuchContainer(v verdict) error {
	return fmt.Errorf("%w: there is no such database or container: %w", ErrBlocked, v.err)
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
