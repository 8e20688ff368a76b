import os
os.environ.setdefault('OMP_NUM_THREADS','1');os.environ.setdefault('OPENBLAS_NUM_THREADS','1')
import sys,time;sys.path.insert(0,os.path.dirname(os.path.abspath(__file__)))
from labpy import *
def make_net(p,mu,sd):
    net=Net();net.nin=len(mu)
    def put(f,a):
        a=np.ascontiguousarray(a,np.float32).ravel();C.memmove(getattr(net,f),a.ctypes.data,a.nbytes)
    put('mu',mu);put('sd',1/sd);put('w1',p[0].T);put('b1',p[1]);put('w2',p[2].T);put('b2',p[3]);put('w3',p[4].T);put('b3',p[5]);return net
def fit(F,Lb,W,seed=0,epochs=8,lr=3e-3,bs=2048,init=None,sw=None,log=None):
    rng=np.random.default_rng(seed);n=len(F)
    if init is None:
        mu=F.mean(0);sd=F.std(0)+1e-3
        p=[rng.normal(0,1/np.sqrt(F.shape[1]),(F.shape[1],H1)),np.zeros(H1),rng.normal(0,1.4/np.sqrt(H1),(H1,H2)),np.zeros(H2),rng.normal(0,.7/np.sqrt(H2),(H2,NB)),np.full(NB,-1.)]
        p=[q.astype(np.float32) for q in p]
    else: p,mu,sd=init;p=[q.copy() for q in p]
    X=np.clip((F-mu)/sd,-4,4).astype(np.float32)
    if sw is not None: W=W*sw[:,None]
    m=[np.zeros_like(q) for q in p];v=[np.zeros_like(q) for q in p];k=0;tot=epochs*(n//bs)
    for ep in range(epochs):
        o=rng.permutation(n);ls=0;wsum=0
        for i in range(0,n-bs+1,bs):
            j=o[i:i+bs];x=X[j];z1=x@p[0]+p[1];a=np.where(z1>0,z1,.05*z1);z2=a@p[2]+p[3];b=np.where(z2>0,z2,.05*z2);z=b@p[4]+p[5]
            y=1/(1+np.exp(-z));w=W[j];d=(y-Lb[j])*w/bs
            if i%(bs*10)==0:
                ls+=(w*(np.logaddexp(0,z)-Lb[j]*z)).sum();wsum+=w.sum()
            g5=d.sum(0);g4=b.T@d;db=d@p[4].T;db*=np.where(z2>0,1,.05);g3=db.sum(0);g2=a.T@db;da=db@p[2].T;da*=np.where(z1>0,1,.05);g1=da.sum(0);g0=x.T@da
            k+=1;r=lr*0.5*(1+math.cos(math.pi*k/tot))
            for q,g,mm,vv in zip(p,(g0,g1,g2,g3,g4,g5),m,v):
                mm*=.9;mm+=.1*g;vv*=.999;vv+=.001*g*g;q-=r*(mm/(1-.9**k))/(np.sqrt(vv/(1-.999**k))+1e-8)
    if log: log(f'   loss {ls/wsum:.5f} n={n}')
    return p,mu,sd
def collect(tracks,net,line,seed,maxs=3000,runs=3,expl=.35):
    rng=np.random.default_rng(seed);Fs=[];Ls=[];Ws=[];S=[]
    for t in tracks:
        for r in range(runs):
            E=float(np.exp(rng.uniform(math.log(20),math.log(1500)))) if rng.random()<.5 else float(rng.choice([50,100,200,500]))
            noisy=rng.random()<.6; sig=float(rng.uniform(.5,5)) if noisy else 0.
            pr=PA if rng.random()<.6 else PB
            pa=params(mu=float(np.exp(rng.uniform(math.log(12),math.log(70)))),heur=0 if net else 3,shrink=RHO if net else float(np.exp(rng.normal(0,.5))))
            st,F,Lb,W=sim(t,E,pr,net,pa,line,sig,float(rng.uniform(40,300)),.15 if noisy else 0.,1.6*sig if noisy else 3.,seed=int(rng.integers(1<<30)),expl=expl,maxs=60000,stride=1)
            if len(F)>maxs: k=rng.choice(len(F),maxs,replace=False);w=len(F)/maxs;F,Lb,W=F[k],Lb[k],W[k]
            Fs.append(F);Ls.append(Lb);Ws.append(W)
            # each sample weighs by its share of the track's energy; each (track,E) counts alike
            S.append(np.full(len(F),max(len(F),20)**-float(os.environ.get('WEXP','.5'))))
    F,Lb,W,S=map(np.concatenate,(Fs,Ls,Ws,S));return F,Lb,W,(S/S.mean()).astype(np.float32)
def tracks_train(n,base=1000,maxn=50400): return [gen(i%20,base+i,maxn) for i in range(n)]
if __name__=='__main__':
    line=int(sys.argv[1]);ntr=int(sys.argv[2]);out=sys.argv[3];t0=time.time()
    log=lambda *a:print('%5.0f'%(time.time()-t0),*a,flush=True)
    tr=tracks_train(ntr);log('tracks',len(tr),sum(t.n for t in tr)/3600,'h')
    net=None;data=[]
    for rd in range(3):
        d=collect(tr,net,line,seed=10+rd,runs=2 if rd<2 else 4);data=[d] if rd<2 else [data[-1],d]
        D=[np.concatenate(q) for q in zip(*data)] if len(data)>1 else list(d)
        log('collected',D[0].shape)
        prm=fit(D[0],D[1],D[2],seed=rd,epochs=6 if rd<2 else 12,sw=D[3],log=log)
        net=make_net(*prm);save_net(net,out);data=[d];log('round',rd)
