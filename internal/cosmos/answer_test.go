package cosmos

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"
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
		name  string
		err   error
		class Class
		is    error
		wait  time.Duration
	}{
		{"fine", nil, OK, nil, 0},
		{"no answer", errors.New("connection reset"), Unknown, ErrUnreachable, 0},
		{"missing", answer(404), Missing, nil, 0},
		{"no container", answer(404, headerSub, noOwner), Denied, ErrBlocked, 0},
		{"replica behind", answer(404, headerSub, notYet), Unknown, ErrUnreachable, 0},
		{"exists", answer(409), Exists, nil, 0},
		{"changed", answer(412), Changed, nil, 0},
		{"too big", answer(413), TooLarge, nil, 0},
		{"throttled", answer(429, headerWait, "1500"), Throttled, ErrUnreachable, 1500 * time.Millisecond},
		{"throttled, part of a millisecond", answer(429, headerWait, "0.5"), Throttled, ErrUnreachable, 500 * time.Microsecond},
		{"throttled, no time", answer(429), Throttled, ErrUnreachable, 0},
		{"retry with", answer(449), Unknown, ErrUnreachable, 0},
		{"timeout", answer(408), Unknown, ErrUnreachable, 0},
		{"gone", answer(410), Unknown, ErrUnreachable, 0},
		{"server error", answer(500), Unknown, ErrUnreachable, 0},
		{"wrong key", answer(401, "Date", now.Format(http.TimeFormat)), Denied, ErrBlocked, 0},
		{"wrong clock", answer(403, "Date", now.Add(time.Hour).Format(http.TimeFormat)), Denied, ErrClock, 0},
		{"partition full", answer(403, headerSub, full), Full, ErrFull, 0},
		{"no writes in the region", answer(403, headerSub, noWrites), Unknown, ErrUnreachable, 0},
		{"region without the account", answer(403, headerSub, noAccount), Unknown, ErrUnreachable, 0},
		{"token expired", answer(401, headerSub, expired), Unauthorized, ErrUnauthorized, 0},
		{"token revoked", answer(401, headerSub, revoked), Unauthorized, ErrUnauthorized, 0},
		{"no token serves", answer(403, headerSub, noToken), Unauthorized, ErrUnauthorized, 0},
		{"no role", answer(403, headerSub, "5302"), Unauthorized, ErrUnauthorized, 0},
		{"split under way", answer(410, headerSub, "1007"), Unknown, ErrUnreachable, 0},
		{"bad request", answer(400), Refused, ErrBlocked, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := classify(tt.err, now)
			require.Equal(t, tt.class, a.Class)
			require.Equal(t, tt.wait, a.wait)
			if tt.is != nil {
				require.ErrorIs(t, a.Err, tt.is)
			}
		})
	}
}

func TestStatusError(t *testing.T) {
	t.Parallel()
	require.EqualError(t, &statusError{403, "Forbidden"}, "status 403 (Forbidden)")
	require.EqualError(t, &statusError{401, "401 Unauthorized"}, "status 401 (Unauthorized)", "the SDK's words where the service has none")
	require.EqualError(t, &statusError{status: 503}, "status 503")
}
