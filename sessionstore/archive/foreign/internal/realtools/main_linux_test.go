package realtools

import (
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }
