package redact

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestTimeIsLinear gives the rules what would make a careless search try each
// place against all that follows. 16 times as much takes less than 64 times the
// work, where it would be 256 times.
func TestTimeIsLinear(t *testing.T) {
	rules := Secrets()
	took := func(line []byte) time.Duration {
		best := time.Hour
		for range 3 {
			best = min(best, testenv.Work(t, func() { rules.Line(line) }))
		}
		return best
	}
	for name, part := range map[string]string{
		"web tokens":    "-eyJ",
		"key heads":     pemBegin + "PRIVATE KEY-----",
		"key bodies":    pemBegin + "PRIVATE KEY-----\nAAAABBBB",
		"names":         "key=",
		"flags":         "--token ",
		"quotes":        `"password":"`,
		"one quote":     `key='`,
		"escapes":       `\\\\password\\":`,
		"joined":        "secretkey",
		"addresses":     "a://",
		"users":         "a://b:",
		"options":       "mysql -p",
		"cookies":       "cookie: a=b; ",
		"bearers":       "bearer ",
		"signatures":    `"signature":"\`,
		"placeholders":  "[redacted:key] token=",
		"digits":        "123456789:AA",
		"semicolons":    ";   password",
		"annotations":   "token: a b = ",
		"found ones":    "PASSWORD=a1B2c3D4e5 ",
		"found escaped": `\"password\": \"a1B2c3D4e5\", `,
	} {
		var small, large time.Duration
		for range 10 { // one calm moment is enough
			small = took([]byte(strings.Repeat(part, (32<<10)/len(part))))
			large = took([]byte(strings.Repeat(part, (512<<10)/len(part))))
			if large < 64*small {
				break
			}
		}
		require.Less(t, large, 64*small, name)
	}
}
