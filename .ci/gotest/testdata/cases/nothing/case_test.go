package nothing

import (
	"os"
	"testing"
)

func TestMain(*testing.M) { os.Exit(0) }

func TestNothing(t *testing.T) { t.Fatal("never runs") }
