package cosmos

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	answer := func(status int, header ...string) error {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &azcore.ResponseError{StatusCode: status, RawResponse: &http.Response{StatusCode: status, Header: h}}
	}
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	tests := []struct {
		name string
		err  error
		is   error
		wait time.Duration
	}{
		{"fine", nil, nil, 0},
		{"no answer", errors.New("connection reset"), remote.ErrUnreachable, 0},
		{"missing", answer(404), remote.ErrNotExist, 0},
		{"no container", answer(404, headerSub, noOwner), remote.ErrBlocked, 0},
		{"replica behind", answer(404, headerSub, notYet), remote.ErrUnreachable, 0},
		{"exists", answer(409), remote.ErrChanged, 0},
		{"changed", answer(412), remote.ErrChanged, 0},
		{"too big", answer(413), remote.ErrTooLarge, 0},
		{"throttled", answer(429, headerWait, "1500"), remote.ErrUnreachable, 1500 * time.Millisecond},
		{"throttled, part of a millisecond", answer(429, headerWait, "0.5"), remote.ErrUnreachable, 500 * time.Microsecond},
		{"throttled, no time", answer(429), remote.ErrUnreachable, 0},
		{"retry with", answer(449), remote.ErrUnreachable, 0},
		{"timeout", answer(408), remote.ErrUnreachable, 0},
		{"gone", answer(410), remote.ErrUnreachable, 0},
		{"server error", answer(500), remote.ErrUnreachable, 0},
		{"wrong key", answer(401, "Date", now.Format(http.TimeFormat)), remote.ErrBlocked, 0},
		{"wrong clock", answer(403, "Date", now.Add(time.Hour).Format(http.TimeFormat)), remote.ErrClock, 0},
		{"partition full", answer(403, headerSub, full), remote.ErrFull, 0},
		{"no writes in the region", answer(403, headerSub, noWrites), remote.ErrUnreachable, 0},
		{"region without the account", answer(403, headerSub, noAccount), remote.ErrUnreachable, 0},
		{"token expired", answer(401, headerSub, expired), remote.ErrUnauthorized, 0},
		{"token revoked", answer(401, headerSub, revoked), remote.ErrUnauthorized, 0},
		{"no token serves", answer(403, headerSub, noToken), remote.ErrUnauthorized, 0},
		{"no role", answer(403, headerSub, "5302"), remote.ErrUnauthorized, 0},
		{"split under way", answer(410, headerSub, "1007"), remote.ErrUnreachable, 0},
		{"bad request", answer(400), remote.ErrRefused, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := classify(tt.err, now)
			require.ErrorIs(t, a.Err, tt.is)
			trouble := (*remote.Unreachable)(nil)
			require.Equal(t, tt.is == remote.ErrUnreachable, errors.As(a.Err, &trouble))
			if trouble == nil {
				return
			}
			require.Equal(t, tt.wait, trouble.After)
			require.Equal(t, strings.HasPrefix(tt.name, "throttled"), trouble.Kind == remote.Throttled)
		})
	}
}

func TestStatusError(t *testing.T) {
	t.Parallel()
	require.EqualError(t, &statusError{403, "Forbidden"}, "status 403 (Forbidden)")
	require.EqualError(t, &statusError{401, "401 Unauthorized"}, "status 401 (Unauthorized)", "the SDK's words where the service has none")
	require.EqualError(t, &statusError{status: 503}, "status 503")
}
