package build

import "testing"

func TestBuild(t *testing.T) { t.Fatal(unknown) }
