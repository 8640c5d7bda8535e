package s3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/aws/smithy-go"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// The errors of answers that package remote does not name.
var (
	errElsewhere      = errors.New("what answered is not the service: sign in to the network, or have its proxy pass requests to the service")
	errNoETag         = fmt.Errorf("an answer has no ETag, by which a bucket names versions: use a service that sends them, where %w", errElsewhere)
	errNoRange        = errors.New("the object has no such range")
	errConflict       = fmt.Errorf("%w: another write was under way", remote.ErrChanged)
	errNotImplemented = fmt.Errorf("%w: the service does not implement it", remote.ErrRefused)
)

// statusError is an error answer, without its text, which may quote the request.
type statusError struct {
	status int
	code   string
}

func (e *statusError) Error() string {
	if e.code == "" {
		return fmt.Sprintf("status %d", e.status)
	}
	return fmt.Sprintf("status %d (%s)", e.status, e.code)
}

// meaning returns the error for the outcome of the trip's request, as the package's
// documentation lists them. then is what may follow.
func (t *trip) meaning(err error) (then next, _ error) {
	if err == nil {
		return nothing, nil
	}
	if t.status >= 300 {
		return t.refusal(codeOf(err))
	}
	if t.ctx.Err() != nil {
		return nothing, context.Cause(t.ctx)
	}
	if errors.Is(err, remote.ErrTooLarge) {
		return nothing, err
	}
	trouble := &remote.Unreachable{Err: err}
	if sent := (*url.Error)(nil); errors.As(err, &sent) { // without the words of the client
		trouble.Err = sent
	}
	network := (*net.OpError)(nil)
	switch {
	case !t.sent && !keysAway(err):
		return nothing, fmt.Errorf("%w: no keys for the bucket: sign in, or look at the configuration of the AWS tools: %w", remote.ErrUnauthorized, err)
	case errors.Is(err, errElsewhere), errors.As(err, &network) && (network.Op == "dial" || network.Op == "proxyconnect"):
		trouble.Kind = remote.Away
	case t.stale && t.status == 0:
		trouble.Kind = remote.Stale
	}
	return nothing, trouble
}

// keysAway reports whether a service that gives keys does not answer now. The client asks
// the service of AWS's own machines last: without its answer, there are no keys.
func keysAway(err error) bool {
	for op := (*smithy.OperationError)(nil); errors.As(err, &op); err = op.Err {
		if op.ServiceID == "ec2imds" {
			return false
		}
	}
	network, answer := (*net.OpError)(nil), interface{ HTTPStatusCode() int }(nil)
	return errors.As(err, &network) || errors.As(err, &answer) && (answer.HTTPStatusCode() >= 500 || answer.HTTPStatusCode() == http.StatusTooManyRequests)
}

// codeOf returns the code of an error answer; "" where it has none.
func codeOf(err error) string {
	if e := smithy.APIError(nil); errors.As(err, &e) {
		return e.ErrorCode()
	}
	return ""
}

// The codes of refusals that need more than the status.
var (
	busy    = []string{"SlowDown", "OperationAborted"}
	large   = []string{"EntityTooLarge", "MaxMessageLengthExceeded"}
	ended   = []string{"ExpiredToken", "TokenRefreshRequired"}
	away    = []string{"AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "PermanentRedirect", "TemporaryRedirect", "InvalidRegion"}
	denied  = []string{"AccessDenied", "AllAccessDisabled", "MethodNotAllowed"}
	skewed  = "RequestTimeTooSkewed"
	missing = "NoSuchKey"
	bucket  = "NoSuchBucket"
)

// refusal returns the error for an answer that is an error.
func (t *trip) refusal(code string) (then next, _ error) {
	why := &statusError{t.status, code}
	has := func(codes []string) bool { return slices.Contains(codes, code) }
	var is error
	switch status := t.status; {
	case status == http.StatusNotModified:
		return nothing, remote.ErrUnchanged
	case status == http.StatusNotFound && code == missing:
		is = remote.ErrNotExist
	case code == bucket:
		is = fmt.Errorf("%w: there is no such bucket", remote.ErrBlocked)
	case status == http.StatusNotFound:
		return nothing, &remote.Unreachable{Err: fmt.Errorf("%w: %w", errElsewhere, why), Kind: remote.Away}
	case status == http.StatusPreconditionFailed:
		is = remote.ErrChanged
	case code == "ConditionalRequestConflict":
		is = errConflict
	case status == http.StatusRequestedRangeNotSatisfiable:
		is = errNoRange
	case status == http.StatusRequestEntityTooLarge, has(large):
		is = remote.ErrTooLarge
	case status == http.StatusTooManyRequests, has(busy):
		return t.again(true), &remote.Unreachable{Err: why, Kind: remote.Throttled, After: t.after()}
	case code == skewed:
		is, then = fmt.Errorf("%w: %w by %v", remote.ErrBlocked, remote.ErrClock, t.skew()), resign
	case has(ended):
		is = remote.ErrUnauthorized
	case has(away), status == http.StatusMovedPermanently, status == http.StatusTemporaryRedirect, status == http.StatusPermanentRedirect:
		is = fmt.Errorf("%w: the bucket is in another region%s", remote.ErrBlocked, t.region())
	case has(denied) && t.method != http.MethodGet:
		is = fmt.Errorf("%w: the key may not write, or not remove: it needs s3:PutObject and s3:DeleteObject", remote.ErrRefused)
	case has(denied):
		is = fmt.Errorf("%w: the key may not read, or not list: it needs s3:GetObject and s3:ListBucket", remote.ErrBlocked)
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusInsufficientStorage:
		is = remote.ErrBlocked
	case status == http.StatusNotImplemented:
		is = errNotImplemented
	case status >= 499, status == http.StatusRequestTimeout, status == http.StatusConflict, code == "RequestTimeout":
		return t.again(!t.swaps && status >= 500), &remote.Unreachable{Err: why, After: t.after()}
	default:
		is = remote.ErrRefused
	}
	return then, fmt.Errorf("%w: %w", is, why)
}

// again returns retry where a request may be made again, and the service names no time to wait.
func (t *trip) again(may bool) next {
	if may && t.after() == 0 {
		return retry
	}
	return nothing
}

// after returns the time for which the service asks not to be asked again.
func (t *trip) after() time.Duration {
	n, err := strconv.Atoi(t.header.Get("Retry-After"))
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Second
}

// skew returns the difference of this machine's clock from the date of the answer.
func (t *trip) skew() time.Duration {
	date, err := http.ParseTime(t.header.Get("Date"))
	if err != nil {
		return 0
	}
	return time.Since(date).Round(time.Minute)
}

// region names the region of the bucket, where the answer does.
func (t *trip) region() string {
	if name := t.header.Get("X-Amz-Bucket-Region"); name != "" {
		return ": add region=" + name + " to the place"
	}
	return ": give its region, or its endpoint"
}

// undecided reports whether it is unknown, by the error of a write, whether it was done.
func undecided(err error) bool {
	trouble := (*remote.Unreachable)(nil)
	switch {
	case errors.As(err, &trouble):
		return trouble.Kind != remote.Throttled
	case errors.Is(err, remote.ErrChanged), errors.Is(err, remote.ErrTooLarge), errors.Is(err, remote.ErrBlocked), errors.Is(err, remote.ErrUnauthorized):
		return false
	}
	return true // the context ended, or nothing came
}
