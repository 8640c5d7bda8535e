package cosmos

import (
	"context"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// The SDK's client asks for the account's regions before its first request, and
// every few minutes after that. It asks without the caller's context, for up to
// 60 s, and all requests wait for the answer. After a failure it refuses all
// requests for minutes.
//
// Regions matter to a client with preferred regions only: the account's own endpoint
// serves all others. So [accountPolicy] answers without a request where no region is
// preferred. Where one is, it makes the request, and bounds it by the caller's context
// and by accountTime. A failed request gets the last successful answer, if any, and
// otherwise the same answer as without preferred regions: the client then uses the
// account's endpoint until it asks again. Requests that the SDK makes as it leaves a
// region, which is without the caller's context, count to the call that caused them.
type accountPolicy struct {
	regions bool                   // the client prefers regions
	known   atomic.Pointer[[]byte] // the account's last answer, where the client prefers regions
	beside  atomic.Pointer[trip]   // that takes requests which no trip makes
}

// accountTime is how long a request for the account's regions may take.
const accountTime = 5 * time.Second

// withPolicies returns the client options o, which may be nil, with an
// accountPolicy and the transport of this package.
func withPolicies(o *azcosmos.ClientOptions) *azcosmos.ClientOptions {
	own := azcosmos.ClientOptions{}
	if o != nil {
		own = *o
	}
	regions := len(own.PreferredRegions) > 0
	own.PerCallPolicies = slices.Concat([]policy.Policy{&accountPolicy{regions: regions}}, own.PerCallPolicies)
	own.Transport = newWire(own.Transport)
	return &own
}

// Do answers req if it asks for the account's regions, and passes on any other.
func (p *accountPolicy) Do(req *policy.Request) (*http.Response, error) {
	raw := req.Raw()
	if isAccount(raw) {
		if p.regions {
			if t := p.beside.Load(); t != nil && tripOf(raw.Context()) == nil {
				req = req.Clone(context.WithValue(raw.Context(), tripKey{}, t))
			}
			if body, ok := askAccount(req); ok {
				p.known.Store(&body)
			}
			if body := p.known.Load(); body != nil {
				return jsonAnswer(raw, *body), nil
			}
		}
		return jsonAnswer(raw, []byte(`{"readableLocations":[],"writableLocations":[]}`)), nil
	}
	t := tripOf(raw.Context())
	if t == nil {
		return req.Next()
	}
	t.wired = true
	if p.regions {
		t.beside = p.beside.Store
	}
	return req.Next()
}

// askAccount makes the request, within accountTime and the context of the caller, which the
// SDK drops. ok is false when there is no usable answer.
func askAccount(req *policy.Request) (body []byte, ok bool) {
	ctx, cancel := context.WithTimeout(req.Raw().Context(), accountTime)
	defer cancel()
	if t := tripOf(ctx); t != nil {
		defer context.AfterFunc(t.ctx, func() {
			if context.Cause(t.ctx) != errOver { // the SDK may ask beside the trip
				cancel()
			}
		})()
	}
	answer, err := req.Clone(ctx).Next()
	if err != nil {
		return nil, false
	}
	body, err = io.ReadAll(answer.Body)
	if err != nil || answer.Body.Close() != nil || answer.StatusCode >= 300 {
		return nil, false
	}
	return body, true
}
