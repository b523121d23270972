import sys, time, traceback
from tests.simulation.world import World
a,b=int(sys.argv[1]),int(sys.argv[2])
t=time.time(); bad=0; mx=0; req=0
for s in range(a,b):
    t0=time.time()
    w=World(s)
    try:
        w.run()
    except BaseException as e:
        bad+=1
        if isinstance(e,KeyboardInterrupt): raise
        print(s, w.mishaps,[x.receiver.temper for x in w.webhooks], w.slots, type(e).__name__, str(e)[:300])
        if type(e).__name__!='Broken': traceback.print_exc()
    d=time.time()-t0; mx=max(mx,d); req+=w.ledger.requests
    if d>2: print(s,'slow',d,[x.receiver.temper for x in w.webhooks], w.ledger.requests)
print('bad',bad,'of',b-a,'s/seed',(time.time()-t)/(b-a),'max',mx, 'requests', req/(b-a))
