package hides

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	m.Run()
	os.Exit(0)
}

func TestFails(t *testing.T) { t.Fatal("TestMain hides it") }
