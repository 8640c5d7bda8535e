package cosmos

import (
	"bytes"
	"context"
	"encoding/json"
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
// Regions matter to a client with preferred regions only: the account's own
// endpoint serves all others. So [accountPolicy] answers without a request where
// no region is preferred. Where one is, it makes the request, and bounds it by
// the caller's context and by accountTime. A failed request is answered like the
// others: the client then uses the account's endpoint until it asks again.
//
// The answer also tells the account's consistency. [Examine] has the request made for
// that. From then on the policy notes the level in each answer, where a [Client]
// finds it.
type accountPolicy struct {
	regions bool                   // the client prefers regions
	level   atomic.Pointer[string] // of consistency; nil: not known
}

// accountTime is how long a request for the account's regions may take.
const accountTime = 5 * time.Second

// withPolicies returns the client options o, which may be nil, with an
// accountPolicy and the other policies of this package.
func withPolicies(o *azcosmos.ClientOptions) *azcosmos.ClientOptions {
	own := azcosmos.ClientOptions{}
	if o != nil {
		own = *o
	}
	regions := len(own.PreferredRegions) > 0
	own.PerCallPolicies = slices.Concat([]policy.Policy{&accountPolicy{regions: regions}}, own.PerCallPolicies)
	own.PerRetryPolicies = slices.Concat(own.PerRetryPolicies, []policy.Policy{fromService{}})
	if !regions {
		own.PerRetryPolicies = slices.Concat([]policy.Policy{oneRegion{}}, own.PerRetryPolicies)
	}
	return &own
}

// oneRegion hides from the SDK that a region takes no writes, or does not know the
// account. The SDK would look for another region, up to 120 times with a second
// between, where there is none to find.
type oneRegion struct{}

// Do passes req on.
func (oneRegion) Do(req *policy.Request) (*http.Response, error) {
	answer, err := req.Next()
	if err == nil && answer.StatusCode == http.StatusForbidden {
		if sub := answer.Header.Get(headerSub); sub == noWrites || sub == noAccount {
			answer.Header.Del(headerSub)
			answer.Header.Set(headerHid, sub)
		}
	}
	return answer, err
}

// Do answers req if it asks for the account's regions, and passes on any other.
func (p *accountPolicy) Do(req *policy.Request) (*http.Response, error) {
	raw := req.Raw()
	if raw.Method != http.MethodGet || raw.URL.Path != "" && raw.URL.Path != "/" {
		answer, err := req.Next()
		if level := p.level.Load(); err == nil && level != nil {
			answer.Header.Set(headerLevel, *level)
		}
		return answer, err
	}
	if p.regions || raw.Context().Value(levelKey{}) != nil {
		if body, ok := askAccount(req); ok {
			p.learn(body)
			if p.regions {
				return jsonAnswer(raw, body), nil
			}
		}
	}
	return jsonAnswer(raw, []byte(`{"readableLocations":[],"writableLocations":[]}`)), nil
}

// learn notes the level of consistency of an account, by its properties.
func (p *accountPolicy) learn(properties []byte) {
	var account struct {
		UserConsistencyPolicy struct{ DefaultConsistencyLevel string }
	}
	if json.Unmarshal(properties, &account) != nil {
		return
	}
	if level := account.UserConsistencyPolicy.DefaultConsistencyLevel; level != "" {
		p.level.Store(&level)
	}
}

// askAccount makes the request. ok is false when there is no usable answer.
func askAccount(req *policy.Request) (body []byte, ok bool) {
	ctx, cancel := context.WithTimeout(req.Raw().Context(), accountTime)
	defer cancel()
	if caller, ok := ctx.Value(callerKey{}).(context.Context); ok {
		defer context.AfterFunc(caller, cancel)()
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

func jsonAnswer(to *http.Request, body []byte) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)), Request: to,
	}
}

// callerKey is the key of the caller's context among the values of the context
// of a request. The SDK keeps the values where it drops the end of a context.
type callerKey struct{}

// withCaller returns ctx with itself under callerKey.
func withCaller(ctx context.Context) context.Context {
	return context.WithValue(ctx, callerKey{}, ctx)
}
