package adk

import (
	"testing"

	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/sessiontestsuite"
)

// TestSuite has what adk-go's own tests ask of each service.
func TestSuite(t *testing.T) {
	t.Parallel()
	sessiontestsuite.RunServiceTests(t, sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true}, func(t *testing.T) session.Service {
		s, _ := open(t, t.TempDir())
		return s
	})
}
