package replica_test

import (
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }
