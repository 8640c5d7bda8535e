package testenv

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTimely(t *testing.T) {
	for _, tt := range []struct {
		long, want string
		took       time.Duration
	}{
		{"", "", time.Minute},
		{"1", "", time.Second},
		{"1", "the call took 1m0s, longer than 1s", time.Minute},
	} {
		t.Setenv("TEST_LONG", tt.long)
		said := &errorf{TB: t}
		Timely(said, "the call", tt.took, time.Second)
		if testing.Short() {
			tt.want = ""
		}
		require.Equal(t, tt.want, said.text)
	}
}
