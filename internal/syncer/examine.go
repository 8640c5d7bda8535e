package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// examine enters a session that the cloud has, scans it and reads its head.
func (e *Syncer) examine(ctx context.Context, id string) (*sessionSync, func(), error) {
	leave, err := e.Enter(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	v := e.begin(id, Options{Asked: true, Named: true})
	v.verdict = e.judgeNow(ctx, id)
	err = v.local.scan(ctx)
	if err == nil {
		err = v.readHead(ctx)
	}
	if err == nil && v.cloud.head == nil {
		err = sessionstore.ErrNotFound
	}
	if err != nil {
		leave()
		return nil, nil, err
	}
	return v, leave, nil
}
