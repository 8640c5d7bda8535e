// The library makes a store callable from C.
package main

import "C"

import (
	"context"
	"fmt"
	"os"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var store *sessionstore.Store

//export OpenStore
func OpenStore(dir *C.char) C.int {
	var err error
	store, err = sessionstore.Open(C.GoString(dir), nil)
	return failed(err)
}

//export AppendRow
func AppendRow(id, line *C.char) C.int {
	m, err := sessionstore.ParseMessage([]byte(C.GoString(line)))
	if err == nil {
		err = store.Append(context.Background(), C.GoString(id), m)
	}
	return failed(err)
}

func failed(err error) C.int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func main() {}
