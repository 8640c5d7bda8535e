package vfs

import (
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// children are those of some systems' tests.
var children = map[string]testenv.Child{}

func TestMain(m *testing.M) { testenv.Main(m, children) }
