// Package notices fails on purpose for one seed in a hundred, which shows that
// .ci/soak notices failures. No wildcard of the go command sees it.
package notices

import (
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestNotices(t *testing.T) {
	if testenv.Seed(t)%100 == 0 {
		t.Error("it fails as planned")
	}
}
