import ctypes as C, numpy as np, os, glob, subprocess, csv, math
HERE=os.path.dirname(os.path.abspath(__file__))
L=C.CDLL(os.path.join(HERE,os.environ.get('LABSO','lab.so')))
NB,NF,NFM,H1,H2=[L.dims(i) for i in range(5)]
BIN=np.array((C.c_double*(NB+1)).in_dll(L,'BIN'))
class Profile(C.Structure): _fields_=[('acq',C.c_double),('trk',C.c_double),('bkp',C.c_double),('n',C.c_int),('off',C.c_double*8),('ttf',C.c_double*8)]
class Net(C.Structure): _fields_=[('nin',C.c_int),('mu',C.c_float*NFM),('sd',C.c_float*NFM),('w1',C.c_float*(H1*NFM)),('b1',C.c_float*H1),('w2',C.c_float*(H2*H1)),('b2',C.c_float*H2),('w3',C.c_float*(NB*H2)),('b3',C.c_float*NB)]
class Params(C.Structure): _fields_=[(k,C.c_double) for k in 'mu_price lam_min amax guard_gain e0 t0 shrink'.split()]+[('heuristic',C.c_int)]
class Stats(C.Structure): _fields_=[(k,C.c_double) for k in 'energy secs outside valid'.split()]+[('fixes',C.c_int)]
for k,c in enumerate((Profile,Net,Params)): assert L.sizes(k)==C.sizeof(c),(k,L.sizes(k),C.sizeof(c))
L.optimum.restype=C.c_double
def profile(pts,acq=27.6,trk=24.6,bkp=0.106):
    p=Profile(acq,trk,bkp,len(pts))
    for i,(a,b) in enumerate(pts): p.off[i]=a;p.ttf[i]=b
    return p
PA=profile([(0,1),(5,1),(5.0001,3),(7200,3),(14400,28)])
PB=profile([(0,1),(5,1),(60,3),(600,10.5),(7200,10.5),(14400,29)])
RHO=float(os.environ.get('RHO','0.25'));PHI=float(os.environ.get('PHI','0.3'))
def params(mu=28.,lam=10.,amax=1.5,gain=0.,e0=1800.,t0=600.,shrink=RHO,heur=0): return Params(mu,lam,amax,gain,e0,t0,shrink,heur)
RHO=float(os.environ.get('RHO','0.25'));PHI=float(os.environ.get('PHI','0.3'))
def dp(a): return a.ctypes.data_as(C.c_void_p)
class Track:
    def __init__(s,name,x,y,spd,valid,mot,cls='m'):
        s.name=name;s.x=np.ascontiguousarray(x,float);s.y=np.ascontiguousarray(y,float);s.spd=np.ascontiguousarray(spd,float)
        s.valid=np.ascontiguousarray(valid,np.uint8);s.mot=np.ascontiguousarray(mot,np.uint8);s.n=len(s.x);s.cls=cls;s.opt={}
    def optimum(s,E,pr,tag):
        k=(E,tag)
        if k not in s.opt: s.opt[k]=L.optimum(s.n,dp(s.x),dp(s.y),dp(s.valid),C.byref(pr),C.c_double(E),9000)
        return s.opt[k]
def sim(t,E,pr,net,pa,line=0,sig=0.,tau=120.,sigv=0.,acc=3.,seed=1,phi=PHI,rho=RHO,expl=0.,maxs=0,stride=1):
    st=Stats();nf=NFM if line else NF
    if maxs: F=np.empty((maxs,nf),np.float32);Lb=np.empty((maxs,NB),np.float32);W=np.empty((maxs,NB),np.float32)
    ns=L.simulate(t.n,dp(t.x),dp(t.y),dp(t.spd),dp(t.valid),dp(t.mot),C.byref(pr),C.byref(net) if net else None,C.byref(pa),C.c_double(E),line,
      C.c_double(sig),C.c_double(tau),C.c_double(sigv),C.c_double(acc),C.c_uint64(seed),C.c_double(phi),C.c_double(rho),C.c_double(expl),C.byref(st),
      dp(F) if maxs else None,dp(Lb) if maxs else None,dp(W) if maxs else None,maxs,stride)
    return (st,F[:ns],Lb[:ns],W[:ns]) if maxs else st
def gen(kind,seed,maxn=50400):
    x=np.zeros(maxn);y=np.zeros(maxn);s=np.zeros(maxn);m=np.zeros(maxn,np.uint8);r=C.c_double()
    n=L.gen_track(kind,C.c_uint64(seed),maxn,dp(x),dp(y),dp(s),dp(m),C.byref(r))
    if seed%2: m[:n]=motion_line(x[:n],y[:n],None,seed)[0]
    return Track(f'syn{kind}-{seed}',x[:n].copy(),y[:n].copy(),s[:n].copy(),np.ones(n,np.uint8),m[:n].copy(),'s' if kind>=17 else 'm')
def motion_line(x,y,valid,seed=0,sigma=None):
    """Accelerometer simulated from a recorded track, robust to GPS wander: a second is 'moving' where the track smoothed over
    9 s (median) makes 10 m or more net in a window of 30 s, or 4 m within 6 s; starts sharpened to where the raw track leaves the rest place."""
    from scipy.ndimage import median_filter, uniform_filter1d, binary_closing, binary_opening
    n=len(x); xs=median_filter(x,9,mode='nearest'); ys=median_filter(y,9,mode='nearest')
    def net(w):
        h=w//2;i0=np.clip(np.arange(n)-h,0,n-1);i1=np.clip(np.arange(n)+h,0,n-1)
        return np.hypot(xs[i1]-xs[i0],ys[i1]-ys[i0])
    mv=(net(30)>12)|(net(8)>5)
    # sharpen: in each moving run shrink its ends to where the smoothed local speed exceeds 0.35 m/s
    sp=net(6)/6
    m=np.zeros(n,np.uint8); i=0
    while i<n:
        if not mv[i]: i+=1;continue
        j=i
        while j<n and mv[j]: j+=1
        a=i
        while a<j and sp[a]<0.35: a+=1
        b=j
        while b>a and sp[b-1]<0.35: b-=1
        m[a:b]=1; i=j
    # bridge short stillness (<4 s)
    out=line_from(m,seed); return out,m
def line_from(m,seed):
    rng=np.random.default_rng(seed);n=len(m);o=m.copy()
    st=np.flatnonzero(np.diff(np.r_[0,m])==1)
    for a in st: o[a:a+rng.integers(0,3)]=0
    for a in np.flatnonzero(rng.random(n)<1/3600.): o[a:a+10]=1
    return o
def from_samples(name,t,lat,lon,spd=None,cls='m',gap=30):
    t=np.asarray(t,float);lat=np.asarray(lat,float);lon=np.asarray(lon,float)
    k=np.isfinite(lat)&np.isfinite(lon)&np.isfinite(t);t,lat,lon=t[k],lat[k],lon[k];sp=None if spd is None else np.asarray(spd,float)[k]
    keep=np.r_[True,np.diff(np.maximum.accumulate(t))>0];t,lat,lon=t[keep],lat[keep],lon[keep];sp=None if sp is None else sp[keep]
    R=6371008.8;la0=lat[0];X=np.radians(lon-lon[0])*R*np.cos(np.radians(np.median(lat)));Y=np.radians(lat-la0)*R
    # cut holes longer than 1800 s to 1800 s
    T=t-t[0];d=np.diff(T)
    n=int(T[-1])+1;g=np.arange(n);x=np.interp(g,T,X);y=np.interp(g,T,Y)
    valid=np.ones(n,np.uint8)
    for i in np.flatnonzero(d>gap): valid[int(math.floor(T[i]))+1:int(math.ceil(T[i+1]))]=0
    v=np.hypot(np.diff(x,prepend=x[0]),np.diff(y,prepend=y[0]))
    if sp is not None and np.isfinite(sp).mean()>0.9:
        v=np.interp(g,T,np.nan_to_num(sp))
    else:
        w=np.r_[v[:1],(v[1:]+v[:-1])/2];v=w
    v[valid==0]=0 if sp is None else v[valid==0]
    mot,raw=motion_line(x,y,valid,seed=abs(hash(name))%1000 if 0 else sum(map(ord,name)))
    tr=Track(name,x,y,v,valid,mot,cls);tr.raw=raw;tr.dt=np.median(d);return tr
def eight():
    out=[]
    for f in sorted(glob.glob('/work/shared/data/tracks/*.csv')):
        if 'pauses' in f: continue
        r=list(csv.DictReader(open(f)))
        out.append(from_samples(os.path.basename(f)[:-4],[float(q['unix_time']) for q in r],[float(q['lat']) for q in r],[float(q['lon']) for q in r],[float(q['speed']) if q['speed'] else np.nan for q in r]))
    return out
def table(tracks,net,Es=(50,100,200,500),pr=PA,tag='A',pa=None,line=0,noise=False,phi=PHI,nm=None,verbose=False,per=False):
    pa=pa or params(); lr=[];br=[];o=v=0;w=(0,'');rows=[]
    for t in tracks:
        to=tv=0
        for E in Es:
            st=sim(t,E,pr,net,pa,line,*( (2.5,120.,0.15,4.) if noise else (0.,120.,0.,3.)),seed=hash((t.n,E))%9999,phi=phi)
            op=t.optimum(E,pr,tag); lr.append(math.log(st.energy/op));b=st.outside/max(st.valid,1);br.append(b);o+=st.outside;v+=st.valid;to+=st.outside;tv+=st.valid
            rows.append((t.name,E,st.energy/op,b,st.energy/t.n,st.fixes))
            if verbose: print(f'  {t.name:40s} {E:5} {st.energy/op:6.2f} {100*b:6.2f}% {st.energy/t.n:7.2f} mW')
        w=max(w,(to/max(tv,1),t.name))
    res=dict(ratio=math.exp(np.mean(lr)),mean=100*np.mean(br),pooled=100*o/v,worst=100*w[0],wname=w[1],worst1=100*max(br))
    return (res,rows) if per else res
def fmt(r): return f"{r['ratio']:.3f} x  broken mean {r['mean']:.2f} % pooled {r['pooled']:.2f} % worst {r['worst']:.2f} % ({r['wname'][:22]}; single E {r['worst1']:.2f} %)"
def save_net(net,fn):
    with open(fn,'w') as f:
        n=net.nin; print(n,H1,H2,NB,file=f)
        for nm,k in (('mu',n),('sd',n),('w1',H1*n),('b1',H1),('w2',H2*H1),('b2',H2),('w3',NB*H2),('b3',NB)):
            print(nm,*['%.6g'%v for v in list(getattr(net,nm))[:k]],file=f)
def load_net(fn):
    net=Net();ls=open(fn).read().split('\n');net.nin=int(ls[0].split()[0])
    for l in ls[1:]:
        q=l.split()
        if q:
            a=getattr(net,q[0])
            for i,v in enumerate(q[1:]): a[i]=float(v)
    return net
SEL='3173437224.tcx activity_4078723797.tcx activity_4801048867.tcx 20180131T121746.gpx 5_85.gpx utgtrack-22245.gpx DC2_garmin.gpx DC_polar.gpx FC2_keymaze.gpx FC_garmin.gpx MC_polar.gpx 1317719870259 1317811076881 1329765531089 1330258035890 1334219048061 1334319186901 1412412627743 rover1.pos ExampleTrack.gpx boat_amsterdam_gps_20min.nmea'.split()
def real():
    import pickle
    return [Track(n,x,y,s,v,m) for n,x,y,s,v,m,raw,src in pickle.load(open(HERE+'/real/real.pkl','rb')) if n in SEL]
def nontriv(t,E,pr=PA,tag='A'):  # the optimum needs at least 5 fixes
    return t.optimum(E,pr,tag)-0.106*t.n >= 5*(24.6+3*27.6)
def evalset(tracks,net,mus=(14,20,28,40,56),Es=(50,100,200,500),pr=PA,tag='A',line=0,noise=False,phi=PHI,filt=True,kw={},target=.5,at='mean'):
    """ratio at 0.5 % broken by interpolation over mu; returns (mu, ratio, rows at each mu)"""
    P=[(t,E) for t in tracks for E in Es if not filt or nontriv(t,E,pr,tag)]
    out=[]
    for mu in mus:
        pa=params(mu=mu,**kw);lr=[];br=[];o=v=0;tb={}
        for t,E in P:
            st=sim(t,E,pr,net,pa,line,*((2.5,120.,0.15,4.) if noise else (0.,120.,0.,3.)),seed=(t.n*7+int(E))%99991,phi=phi)
            lr.append(math.log(st.energy/t.optimum(E,pr,tag)));br.append(100*st.outside/max(st.valid,1));o+=st.outside;v+=st.valid
            q=tb.setdefault(t.name,[0,0]);q[0]+=st.outside;q[1]+=st.valid
        out.append((mu,math.exp(np.mean(lr)),np.mean(br),100*o/v,max(100*q[0]/max(q[1],1) for q in tb.values())))
    a=np.array(out);c=2 if at=='mean' else 3
    lb=np.log(a[::-1,c]+1e-3);r=math.exp(np.interp(math.log(target),lb,np.log(a[::-1,1])));m=math.exp(np.interp(math.log(target),lb,np.log(a[::-1,0])))
    return r,m,out
def show(tag,res): print(f"{tag:26s} {res[0]:.3f} x @0.5% (mu {res[1]:.0f})  "+' '.join(f"[{m:.0f}: {r:.2f} {b:.2f}/{p:.2f} w{w:.1f}]" for m,r,b,p,w in res[2]),flush=True)
def holdout(n=80,base=900000): return [gen(i%20,base+i,50400) for i in range(n)]
