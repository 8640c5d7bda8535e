package always

import "testing"

func TestAlways(t *testing.T) { t.Fatal("each run fails") }
