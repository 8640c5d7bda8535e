package projects_test

import (
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, nil)
}
